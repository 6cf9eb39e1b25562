"""Packs a folder of make_tree.py as one file.

  make_package.py KIND --tree=FOLDER --version_header=FILE --out=FOLDER

KIND is tar, deb or wheel; the name of the file has the version and the machine.
Equal trees give equal bytes: names are sorted, and owners, times and modes are
the same for everybody.
"""

import argparse
import base64
import csv
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

import elf_needs
from kymo_version import version_of

# 1980-01-01, the first day that a zip file knows.
TIME = 315532800
PROGRAMS = "bin/"
# The Python package, which a wheel has where Python looks.
PYTHON = "lib/kymo/python/"
# pip install --target leaves out what a wheel has in lib. So wheels have the
# libraries in another folder, and these files name that one.
LIBRARIES = "lib/kymo/"
WHEEL_LIBRARIES = "libexec/kymo/"
NAME_LIBRARIES = ("lib/cmake/", "lib/pkgconfig/")

# What Debian 12 has. Packages that are made there work on what is newer.
LEAST_GLIBC = (2, 36)

SUMMARY = "shows where the time and the memory of a program go"
DESCRIPTION = """\
Kymo records a program and prints where its time went: ranges that the
program annotates, samples of any other program, memory, and work of devices.
It has the model of torch.profiler, and writes timelines and stacks for
Perfetto, TensorBoard, pprof and speedscope. It reads such files of other
tools as well.
"""
MAINTAINER = "The maintainers of Kymo <maintainers@kymo.invalid>"

DEBIAN_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def mode_of(name):
    return 0o755 if name.startswith(PROGRAMS) else 0o644


class Tree:
    """The files of a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.names = sorted(
            os.path.relpath(os.path.join(parent, name), folder)
            for parent, _, names in os.walk(folder) for name in names)
        self.machine = elf_needs.machine(self.path("bin/kymo"))

    def elf_files(self):
        return [self.path(name) for name in self.names
                if elf_needs.is_elf(self.path(name))]

    def folders(self):
        """Without the tree itself."""
        return sorted({name[:end] for name in self.names
                       for end in range(len(name)) if name[end] == "/"})

    def glibc(self):
        """The version of glibc that the files need."""
        return max(LEAST_GLIBC, elf_needs.glibc_version(self.elf_files()))

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


def compressed(data):
    """As gzip -9n does it, without a time."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed,
                       mtime=0) as file:
        file.write(data)
    return packed.getvalue()


def make_tar(tree, version, out):
    top = f"kymo-{version}-linux-{tree.machine}"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w",
                      format=tarfile.GNU_FORMAT) as archive:
        # Whoever unpacks it, everybody can read it.
        for folder in [top] + [f"{top}/{name}" for name in tree.folders()]:
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o755
            entry.mtime = TIME
            archive.addfile(entry)
        for name in tree.names:
            data = tree.read(name)
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size = len(data)
            entry.mode = mode_of(name)
            entry.mtime = TIME
            archive.addfile(entry, io.BytesIO(data))
    with open(os.path.join(out, top + ".tar.gz"), "wb") as file:
        file.write(compressed(packed.getvalue()))


def wheel_digest(data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + digest.rstrip(b"=").decode()


def wheel_place(stem, name):
    """Where a wheel has a file of the tree."""
    if name.startswith(PYTHON):
        return name.removeprefix(PYTHON)
    if name.startswith(PROGRAMS):
        return f"{stem}.data/scripts/{name.removeprefix(PROGRAMS)}"
    if name.startswith(LIBRARIES):
        name = WHEEL_LIBRARIES + name.removeprefix(LIBRARIES)
    return f"{stem}.data/data/{name}"


def wheel_content(name, data):
    """What a wheel has in place of a file of the tree."""
    if name.startswith(NAME_LIBRARIES):
        return data.replace(b"/lib/kymo", b"/libexec/kymo")
    return data


def make_wheel(tree, version, out):
    """https://packaging.python.org/en/latest/specifications/binary-distribution-format/

    `scripts` go to the environment's bin, `data` to where bin is, and the rest
    to where Python finds packages: together they are the tree, but for the
    folder of the libraries.
    """
    tag = "py3-none-manylinux_{}_{}_{}".format(*tree.glibc(), tree.machine)
    stem = f"kymo-{version}"
    files = {}
    for name in tree.names:
        files[wheel_place(stem, name)] = (
            wheel_content(name, tree.read(name)), mode_of(name))
    info = f"{stem}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: kymo\nVersion: {version}\n"
        f"Summary: {SUMMARY}\nRequires-Python: >=3.8\nDescription-Content-Type: text/plain\n"
        f"\n{DESCRIPTION}".encode(), 0o644)
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: kymo\nRoot-Is-Purelib: false\n"
        f"Tag: {tag}\n".encode(), 0o644)
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, (data, _) in files.items():
        rows.writerow([name, wheel_digest(data), len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = (record.getvalue().encode(), 0o644)
    path = os.path.join(out, f"{stem}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED,
                         compresslevel=9) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3  # Unix, whose modes these are
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def put(path, data, mode):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def make_deb(tree, version, out):
    """deb(5), with the rules of Debian's policy that lintian checks."""
    machine = DEBIAN_MACHINES[tree.machine]
    changelog = (f"kymo ({version}) unstable; urgency=medium\n\n"
                 "  * See CHANGELOG.md.gz beside this file.\n\n"
                 f" -- {MAINTAINER}  Tue, 01 Jan 1980 00:00:00 +0000\n")
    with tempfile.TemporaryDirectory() as root:
        sums, size = [], 0

        def add(name, data, mode=0o644):
            nonlocal size
            put(os.path.join(root, name), data, mode)
            sums.append(f"{hashlib.md5(data).hexdigest()}  {name}\n")
            size += -(-len(data) // 1024)

        for name in tree.names:
            data = tree.read(name)
            if name.startswith("share/man/") or name.endswith("/CHANGELOG.md"):
                name, data = name + ".gz", compressed(data)
            add(f"usr/{name}", data, mode_of(name))
        add("usr/share/doc/kymo/changelog.gz", compressed(changelog.encode()))
        overrides = os.path.join(os.path.dirname(__file__),
                                 "lintian-overrides.txt")
        with open(overrides, "rb") as file:
            add("usr/share/lintian/overrides/kymo", file.read())
        description = DESCRIPTION.rstrip().replace("\n", "\n ")
        depends = ("libc6 (>= {}.{}), libgcc-s1, libstdc++6 (>= {})".format(
            *tree.glibc(), elf_needs.gcc_version(tree.elf_files())))
        control = (f"Package: kymo\nVersion: {version}\n"
                   f"Architecture: {machine}\nMaintainer: {MAINTAINER}\n"
                   f"Installed-Size: {size}\nDepends: {depends}\n"
                   "Section: devel\nPriority: optional\n"
                   f"Description: {SUMMARY}\n {description}\n")
        put(os.path.join(root, "DEBIAN/control"), control.encode(), 0o644)
        put(os.path.join(root, "DEBIAN/md5sums"), "".join(sums).encode(), 0o644)
        for parent, _, _ in os.walk(root):
            os.chmod(parent, 0o755)
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root,
             os.path.join(out, f"kymo_{version}_{machine}.deb")],
            check=True, stdout=subprocess.DEVNULL,
            env=dict(os.environ, SOURCE_DATE_EPOCH=str(TIME), LC_ALL="C"))


KINDS = {"deb": make_deb, "tar": make_tar, "wheel": make_wheel}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--tree", required=True)
    parser.add_argument("--version_header", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    if arguments.kind == "deb" and not shutil.which("dpkg-deb"):
        raise SystemExit("dpkg-deb is missing: make this package on Debian")
    KINDS[arguments.kind](Tree(arguments.tree),
                          version_of(arguments.version_header), arguments.out)


if __name__ == "__main__":
    main()
