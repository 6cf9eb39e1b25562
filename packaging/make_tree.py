"""Makes the folder that all packages hold.

  make_tree.py --out=FOLDER --version_header=FILE [--static=PACKAGE]
    DEST=FILE ... --headers HEADER ... --python MODULE ... --guides GUIDE ...

Each FILE is copied to DEST below the folder; what is ELF is stripped. In a DEST
and in a FILE whose name ends with .in, the version takes the place of
@KYMO_VERSION@. The HEADERs and what they include go to include (header_tree.py),
the MODULEs to lib/kymo/python/kymo, and the GUIDEs to share/doc/kymo/docs, where
only the links stay that lead to other GUIDEs or to the network. The
libraries that bin/kymo, libkymo.so and libkymo_python.so need, and that are not
the system's, are copied unchanged: Abseil's to lib/kymo, the others to
lib/kymo/private. Their licences, and those of the Debian packages that are
linked into the program (--static), go to share/doc/kymo/licenses, with a list
of what is from where. --static may come several times.
"""

import argparse
import os
import re
import shutil
import subprocess

import elf_needs
import header_tree
from kymo_version import version_of

# Programs that link libkymo.so look here for libraries. So nothing is here that
# a system may have as well.
LIBRARIES = "lib/kymo"
PRIVATE = "lib/kymo/private"
PYTHON = "lib/kymo/python/kymo"
GUIDES = "share/doc/kymo/docs"
LICENCES = "share/doc/kymo/licenses"
COMMON_LICENCES = "/usr/share/common-licenses"

HEAD = """\
What is in this package besides Kymo
====================================

The libraries in lib/kymo and lib/kymo/private were copied from packages of Debian, unchanged; what
is said to be linked is in the programs. The copyright file of each package is
beside this file, and common/ has the licences that they refer to.

libelf and libdw are under the GNU GPL (version 2 or later) or the GNU LGPL
(version 3 or later), as you like. They are shared libraries: a version of
yours, put in place of these files, is used.

The sources are Debian's: https://snapshot.debian.org/package/SOURCE/VERSION/,
or `apt-get source SOURCE=VERSION`.

"""


def packaged_guide(text, guides):
    """A document of docs/, with links to its pages, `guides`, or the network.

    A link to another file becomes that file's name, and a picture becomes its
    description. What is linked by its own name, as headers are, stays words.
    """
    def shown(link):
        is_picture, words, target = link.groups()
        name = target.partition("#")[0]
        if is_picture:
            return f"[Picture: {words}]"
        if not name or "://" in name or name in guides:
            return link[0]
        path = os.path.normpath(os.path.join("docs", name))
        if words.strip("`") == path.replace("profiler/api/", "kymo/"):
            return words
        return f"{words} [{path} of Kymo's sources]"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for number in range(0, len(parts), 2):  # those between are code
        parts[number] = re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", shown,
                               parts[number])
    return "".join(parts)


def owners(paths):
    """The Debian packages that files are of: {path: package}."""
    # dpkg knows files by the names that they were packed with: /lib or /usr/lib.
    names = {}
    for path in paths:
        real = os.path.realpath(path)
        for name in (path, "/usr" + path, real, real.removeprefix("/usr")):
            names[name] = path
    # Its status is 1, because it does not know all of the names.
    found = subprocess.run(["dpkg-query", "-S", *names], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, encoding="utf-8").stdout
    packages = {}
    for line in found.splitlines():
        package, _, name = line.partition(": ")
        if name in names:
            packages[names[name]] = package.split(":")[0]
    for path in paths:
        if path not in packages:
            raise SystemExit(
                f"{path} is of no Debian package, so its licence is not known; "
                "make packages on a Debian whose libraries are packages")
    return packages


def copyright_text(package):
    with open(f"/usr/share/doc/{package}/copyright", "rb") as file:
        return file.read()


def common_licences(text):
    """The files of COMMON_LICENCES that a copyright file refers to.

    It names their paths or, in the fields of Debian's machine-readable form,
    the licences themselves: "License: LGPL-2.1+".
    """
    paths = re.findall(rf"{COMMON_LICENCES}/([A-Za-z0-9.-]*[A-Za-z0-9])", text)
    fields = re.findall(r"^License: *(.*)", text, re.M)
    names = {word.rstrip("+,") for field in fields for word in field.split()}
    return set(paths) | {name for name in names
                         if os.path.exists(f"{COMMON_LICENCES}/{name}")}


def source_of(package):
    """The name and the version of a package's source."""
    return elf_needs.output("dpkg-query", "-W", "-f",
                      "${source:Package} ${source:Version}\n",
                      package).splitlines()[0].split()


class Tree:

    def __init__(self, folder, version):
        self.folder = folder
        self.version = version

    def path(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def add(self, name, source):
        name = name.replace("@KYMO_VERSION@", self.version)
        if source.endswith(".in"):
            with open(source, "rb") as file:
                self.write(name, file.read().replace(
                    b"@KYMO_VERSION@", self.version.encode()))
            return
        shutil.copyfile(source, self.path(name))
        if elf_needs.is_elf(source):
            subprocess.run(["strip", "--strip-unneeded", self.path(name)],
                           check=True)

    def add_headers(self, public):
        """The system's folder is where libabsl-dev has its headers."""
        for name, data in header_tree.packaged(public, "/usr/include"):
            self.write(f"include/{name}", data)

    def add_linker_script(self):
        """libkymo.so, which names all that a program may use of it."""
        parts = [name for name in sorted(os.listdir(self.path(LIBRARIES)))
                 if re.match(r"libabsl_|libkymo\.so\.", name)]
        parts.sort(key=lambda name: not name.startswith("libkymo"))
        self.write(f"{LIBRARIES}/libkymo.so",
                   f"/* A linker script. */\nINPUT({' '.join(parts)})\n"
                   .encode())

    def add_libraries(self, *files):
        """Returns [(soname, package)]."""
        found = {}
        for file in files:
            found |= elf_needs.libraries(self.path(file))
        libraries = sorted(found.items())
        for name, source in libraries:
            folder = LIBRARIES if name.startswith("libabsl_") else PRIVATE
            shutil.copyfile(source, self.path(f"{folder}/{name}"))
        packages = owners([source for _, source in libraries])
        return [(name, packages[source]) for name, source in libraries]

    def add_licences(self, contents):
        """`contents` are pairs of what is in here and its package."""
        packages = sorted({package for _, package in contents})
        common = set()
        for package in packages:
            data = copyright_text(package)
            self.write(f"{LICENCES}/{package}", data)
            common |= common_licences(data.decode("utf-8", "replace"))
        # The LGPL 3 adds to the GPL 3.
        if "LGPL-3" in common:
            common.add("GPL-3")
        for name in sorted(common):
            with open(f"{COMMON_LICENCES}/{name}", "rb") as file:
                self.write(f"{LICENCES}/common/{name}", file.read())
        rows = [("FILE", "PACKAGE", "SOURCE", "VERSION")]
        sources = {package: source_of(package) for package in packages}
        rows += [(what, package, *sources[package])
                 for what, package in contents]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width
                           in zip(row, widths)).rstrip() for row in rows]
        self.write(f"{LICENCES}/README",
                   (HEAD + "\n".join(lines) + "\n").encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--version_header", required=True)
    parser.add_argument("--static", action="append", default=[])
    parser.add_argument("files", nargs="+", metavar="DEST=FILE")
    parser.add_argument("--headers", nargs="+", default=[])
    parser.add_argument("--python", nargs="+", default=[])
    parser.add_argument("--guides", nargs="+", default=[])
    arguments = parser.parse_args()
    if not shutil.which("dpkg-query"):
        raise SystemExit("dpkg-query is missing: packages are made on Debian, "
                         "whose packages say which licence a library has")
    tree = Tree(arguments.out, version_of(arguments.version_header))
    for word in arguments.files:
        name, _, source = word.partition("=")
        tree.add(name, source)
    for source in arguments.python:
        tree.add(f"{PYTHON}/{os.path.basename(source)}", source)
    guides = {os.path.basename(source): source for source in arguments.guides}
    for name, source in guides.items():
        with open(source, encoding="utf-8") as file:
            text = packaged_guide(file.read(), guides)
        tree.write(f"{GUIDES}/{name}", text.encode())
    tree.add_headers(arguments.headers)
    contents = tree.add_libraries("bin/kymo",
                                  f"{LIBRARIES}/libkymo.so.{tree.version}",
                                  f"{LIBRARIES}/libkymo_python.so")
    tree.add_linker_script()
    contents += [("linked", package) for package in sorted(arguments.static)]
    tree.add_licences(contents)


if __name__ == "__main__":
    main()
