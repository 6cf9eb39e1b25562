"""The packages: what is in them, and whether it runs where nothing else is."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import elf_needs
import make_package

FOLDERS = {kind: pathlib.Path("packaging", kind).resolve()
           for kind in ("deb", "tar", "tree", "wheel")}
HEADER = "profiler/api/version.h"
VERSION = make_package.version_of(HEADER)
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
MOST_BYTES = 15_000_000
MOST_RELOCATIONS = 4_000


def only_file(kind):
    file, = FOLDERS[kind].iterdir()
    return file


def run_with(variables, program, *arguments, **options):
    return subprocess.run([str(program), *map(str, arguments)], env=variables,
                          capture_output=True, encoding="utf-8", timeout=120,
                          **options)


def run(program, *arguments, **options):
    """Runs it in an empty environment."""
    return run_with({}, program, *arguments, **options)


def remove_links_to(folder):
    """Those that the program made, since it leaves them (README.md)."""
    for place in "/var/tmp", "/tmp", "/dev/shm":
        for link in pathlib.Path(place).glob(f"kymo-{os.geteuid()}/*"):
            if link.is_symlink() and os.readlink(link).startswith(f"{folder}/"):
                link.unlink()


class PackageTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class TarTest(PackageTest):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with tarfile.open(only_file("tar")) as archive:
            archive.extractall(folder.name)
            cls.modes = {entry.name: entry.mode for entry in archive}
        cls.root, = pathlib.Path(folder.name).iterdir()
        cls.kymo = cls.root / "bin/kymo"

    def record(self, kymo, *words):
        out = self.folder / "out"
        done = run(kymo, *words, f"--output_dir={out}", "--", TARGET, "ranges", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, out

    def test_is_named_by_version_and_machine_and_is_small(self):
        self.assertRegex(only_file("tar").name,
                         rf"^kymo-{re.escape(VERSION)}-linux-\w+\.tar\.gz$")
        self.assertEqual(self.root.name + ".tar.gz", only_file("tar").name)
        self.assertLess(only_file("tar").stat().st_size, MOST_BYTES)

    def test_everybody_can_read_its_folders(self):
        for path in self.root.rglob("*/"):
            name = str(path.relative_to(self.root.parent))
            if path.is_dir():
                self.assertEqual(self.modes[name], 0o755, name)

    def test_brings_every_library_that_a_bare_system_lacks(self):
        shown = run("/usr/bin/ldd", self.kymo).stdout
        self.assertIn("libsimdjson", shown)
        for line in shown.splitlines():
            name, arrow, path = line.strip().partition(" => ")
            if arrow and not elf_needs.OF_THE_SYSTEM.fullmatch(name):
                self.assertTrue(path.startswith(str(self.root)), line)

    def test_has_abseil_and_sqlite_in_the_program(self):
        """The loader would take longer for their shared libraries than for all
        else.
        """
        self.assertEqual([name for name in elf_needs.needed(self.kymo)
                          if "absl" in name or "sqlite" in name], [])

    def test_has_no_library_that_nothing_needs(self):
        files = [self.kymo, *(self.root / "lib/kymo").rglob("*.so*")]
        files.remove(self.root / "lib/kymo/libkymo.so")  # a linker script
        needed = {name for file in files for name in elf_needs.needed(file)}
        for file in files[1:]:
            if not file.name.startswith("libkymo"):
                self.assertIn(file.name, needed)

    def test_programs_look_where_only_kymo_and_its_abseil_are(self):
        for file in (self.root / "lib/kymo").glob("*.so*"):
            self.assertRegex(file.name, r"^lib(kymo|absl_)")
        private = self.root / "lib/kymo/private"
        self.assertTrue((private / "libz.so.1").exists())
        for name in (f"libkymo.so.{VERSION}", "libkymo_python.so"):
            # As where the system has none of them.
            library = self.root / "lib/kymo" / name
            bare = self.root / "lib/kymo" / f"libkymo_bare_{name}"
            self.addCleanup(bare.unlink)
            bare.write_bytes(re.sub(
                rb"\$ORIGIN:/usr/local/lib:[^\0]*(?=:\$ORIGIN/private)",
                lambda found: found[0].replace(b"/", b"-"),
                library.read_bytes()))
            self.assertNotEqual(bare.read_bytes(), library.read_bytes())
            for path in elf_needs.libraries(bare).values():
                self.assertTrue(path.startswith(str(self.root)), path)
            # This system has what packages are made of.
            for part, path in elf_needs.libraries(library).items():
                self.assertEqual(path.startswith(str(self.root)),
                                 part.startswith("libabsl_"), path)

    def test_records_and_reads_it_again(self):
        done, out = self.record(self.kymo)
        self.assertIn("inner", done.stderr)
        report = run(self.kymo, "report", out / "trace.json")
        self.assertEqual(report.returncode, 0, report.stderr)
        recorded = (out / "key_averages.txt").read_text(encoding="utf-8")
        self.assertIn("inner", recorded)
        self.assertIn("inner", report.stdout)

    # Times depend on the machine; these do not. packaging/README.md has both.
    def test_starts_and_ends_soon(self):
        loader = run_with({"LD_DEBUG": "statistics"}, self.kymo, "--version")
        count, = re.findall(r"final number of relocations: (\d+)",
                            loader.stderr)
        self.assertLess(int(count), MOST_RELOCATIONS)
        # oneTBB looks for libirml before it starts threads.
        for count, starts_threads in (3, False), (5_000, True):
            done = run_with({"LD_DEBUG": "files"}, self.kymo,
                            "--activities=cpu,nvtx", "--", TARGET, "ranges",
                            count, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("file=libirml" in done.stderr, starts_threads)

    def test_runs_from_a_path_that_the_loader_would_split(self):
        moved = self.folder / "my tools: $LIB"
        shutil.copytree(self.root, moved)
        self.addCleanup(remove_links_to, moved)
        for flags in ([], ["--profile_memory"]):
            done, out = self.record(moved / "bin/kymo", *flags)
            self.assertNotIn("ld.so", done.stderr)
            recorded = (out / "key_averages.txt").read_text(encoding="utf-8")
            self.assertIn("inner", recorded)

    def test_runs_through_a_link(self):
        link = self.folder / "kymo"
        link.symlink_to(self.kymo)
        done, _ = self.record(link)
        self.assertNotIn("ld.so", done.stderr)

    def test_words_choose_the_command(self):
        version = f"kymo {VERSION}\n"
        self.assertEqual(run(self.kymo, "--version").stdout, version)
        self.assertEqual(run(self.kymo, "report", "--version").stdout, version)
        self.assertEqual(run(self.kymo, "profile", "--version").stdout, version)
        for words in (["--", "false"], ["profile", "false"],
                      ["profile", "--", "false"], ["--quiet", "false"]):
            done = run(self.kymo, *words, cwd=self.folder)
            self.assertEqual(done.returncode, 1, (words, done.stderr))
            self.assertNotIn("kymo: no", done.stderr)
        self.assertIn("available", run(self.kymo, "--list").stdout)
        self.assertIn("kymo report [flags] FILE",
                      run(self.kymo, "--help").stdout)

    def test_says_what_to_do_without_a_command(self):
        for words, says in (([], "no command"), (["xz"], "no command 'xz'"),
                            (["profile"], "no target"),
                            (["report"], "no file")):
            done = run(self.kymo, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(says, done.stderr)
            self.assertIn("--help", done.stderr)

    def test_man_pages_have_every_flag_of_help(self):
        for command in ("profile", "report", "gate", "compare"):
            page = self.root / f"share/man/man1/kymo-{command}.1"
            text = page.read_text(encoding="utf-8").replace("\\-", "-")
            flags = re.findall(r"^ +--(\w+)(?:=\S+)?$",
                               run(self.kymo, command, "--help=all").stdout,
                               re.M)
            self.assertGreater(len(flags),
                               20 if command in ("profile", "report") else 5)
            for flag in flags:
                self.assertIn(f"\n\\fB--{flag}\\fR", text)
            self.assertIn(f'"kymo {VERSION}"', text)

    def complete(self, *words):
        """What Bash offers for the last of the words."""
        script = self.root / "share/bash-completion/completions/kymo"
        command = ('source "$1"; shift; COMP_WORDS=("$@"); '
                   'COMP_CWORD=$(($# - 1)); _kymo; '
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", command, "bash", script, *words],
                              capture_output=True, encoding="utf-8",
                              check=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_flags_and_targets(self):
        self.assertEqual(self.complete("kymo", "p"), ["profile"])
        self.assertEqual(self.complete("kymo", "report", "--che"), ["--check"])
        self.assertEqual(self.complete("kymo", "profile", "--output_d"),
                         ["--output_dir="])
        self.assertEqual(self.complete("kymo", "--output_d"),
                         ["--output_dir="])
        self.assertIn("false", self.complete("kymo", "--", "fals"))
        for before in (["--quiet"], ["--sort_by", "count"],
                       ["--sort_by", "=", "count"]):
            self.assertIn("false",
                          self.complete("kymo", "profile", *before, "fals"))
        self.assertEqual(self.complete("kymo", "profile", "false", "--che"), [])

    def test_headers_compile_alone(self):
        for name in ("backend_plugin", "exporter_plugin", "version"):
            subprocess.run(["gcc", "-fsyntax-only", "-Wall", "-Werror", "-x",
                            "c", "-I", self.root / "include", "-include",
                            f"kymo/{name}.h", "/dev/null"], check=True)

    def test_has_the_licence_of_everything_in_it(self):
        folder = self.root / "share/doc/kymo/licenses"
        listed = (folder / "README").read_text(encoding="utf-8")
        rows = [line.split() for line in listed.splitlines()
                if re.match(r"(lib\S+\.so\S*|linked) ", line)]
        files = {file.name for file in (self.root / "lib/kymo").rglob("*.so*")
                 if not file.name.startswith("libkymo")}
        self.assertEqual({row[0] for row in rows} - {"linked"}, files)
        for _, package, source, version in rows:
            self.assertTrue((folder / package).read_bytes(), package)
        # libiberty is linked. Its own files are under the LGPL and the GPL
        # (Debian's libiberty-dev, "Files: libiberty/*"), of which its copyright
        # file has no text.
        self.assertEqual([row[1] for row in rows if row[0] == "linked"],
                         ["libabsl-dev", "libiberty-dev", "libsqlite3-dev",
                          "libzstd-dev"])
        for name in ("LGPL-2.1", "GPL-3"):
            self.assertIn(b"GENERAL PUBLIC LICENSE",
                          (folder / "common" / name).read_bytes())
        libdw, = (row[1] for row in rows if row[0].startswith("libdw.so"))
        text = (folder / libdw).read_text(encoding="utf-8")
        for name in re.findall(r"common-licenses/(L?GPL-\d)", text):
            self.assertIn(b"GENERAL PUBLIC LICENSE",
                          (folder / "common" / name).read_bytes())


class OtherFormatsTest(PackageTest):

    def tree(self, folder):
        return {str(path.relative_to(folder)): path.read_bytes()
                for path in folder.rglob("*") if path.is_file()}

    def test_deb_has_the_tree_below_usr(self):
        deb = only_file("deb")
        subprocess.run(["dpkg-deb", "-x", deb, self.folder], check=True)
        usr = self.folder / "usr"
        for name, data in self.tree(FOLDERS["tree"]).items():
            if name.startswith("share/man/") or name.endswith("/CHANGELOG.md"):
                name, data = name + ".gz", make_package.compressed(data)
            self.assertEqual((usr / name).read_bytes(), data, name)
        self.assertTrue(os.access(usr / "bin/kymo", os.X_OK))
        self.assertFalse(os.access(usr / "include/kymo/version.h", os.X_OK))
        fields = subprocess.run(["dpkg-deb", "-f", deb], check=True,
                                capture_output=True, encoding="utf-8").stdout
        self.assertIn(f"\nVersion: {VERSION}\n", fields)
        self.assertRegex(fields, r"\nDepends: libc6 \(>= 2\.\d+\), libgcc-s1, "
                                 r"libstdc\+\+6 \(>= [\d.]+\)\n")
        self.assertEqual(run(usr / "bin/kymo", "--version").stdout,
                         f"kymo {VERSION}\n")

    def test_wheel_has_the_tree_and_a_true_record(self):
        wheel = only_file("wheel")
        self.assertRegex(wheel.name, rf"^kymo-{re.escape(VERSION)}-py3-none-"
                                     r"manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
            mode = archive.getinfo(
                f"kymo-{VERSION}.data/scripts/kymo").external_attr >> 16
        self.assertEqual(mode, 0o100755)
        for name, data in self.tree(FOLDERS["tree"]).items():
            place = (f"kymo-{VERSION}.data/data/{name}"
                     .replace("data/bin/", "scripts/")
                     .replace(f"kymo-{VERSION}.data/data/lib/kymo/python/", "")
                     .replace("data/lib/kymo/", "data/libexec/kymo/"))
            if name.startswith(("lib/cmake/", "lib/pkgconfig/")):
                data = data.replace(b"/lib/kymo", b"/libexec/kymo")
            self.assertEqual(files[place], data)
        self.assertIn("kymo/__init__.py", files)
        info = f"kymo-{VERSION}.dist-info"
        rows = list(csv.reader(io.StringIO(files[f"{info}/RECORD"].decode())))
        self.assertEqual([row[0] for row in rows], list(files))
        for name, digest, size in rows[:-1]:
            sha = base64.urlsafe_b64encode(
                hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)),
                             ("sha256=" + sha, len(files[name])))
        self.assertNotIn(b"Requires-Dist", files[f"{info}/METADATA"])
        self.assertIn(b"\nRequires-Python: >=3.8\n",
                      files[f"{info}/METADATA"])


    def test_wheel_needs_nothing_but_its_folder(self):
        """pip install --target leaves out the wheel's lib."""
        prefix = f"kymo-{VERSION}.data/"
        with zipfile.ZipFile(only_file("wheel")) as archive:
            names = [name for name in archive.namelist()
                     if name.startswith((prefix, "kymo/"))
                     and not name.startswith(prefix + "data/lib/")]
            archive.extractall(self.folder, names)
        (self.folder / prefix / "scripts").rename(self.folder / "bin")
        for path in (self.folder / prefix / "data").iterdir():
            path.rename(self.folder / path.name)
        kymo = self.folder / "bin/kymo"
        kymo.chmod(0o755)
        done = run(kymo, f"--output_dir={self.folder}/out", "--profile_memory",
                   "--", TARGET, "ranges", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("missing", done.stderr)
        subprocess.run(
            [sys.executable, "-c", "import kymo; kymo.load('out/trace.json')"],
            check=True, cwd=self.folder, env={"PYTHONPATH": str(self.folder)})


class DependsTest(PackageTest):

    def test_compiler_is_the_first_that_has_what_the_files_need(self):
        # GCC's manual of libstdc++, "ABI Policy and Guidelines".
        for name, gcc in (("GLIBCXX_3.4", "9.1"), ("GLIBCXX_3.4.9", "9.1"),
                          ("GLIBCXX_3.4.29", "11"), ("GLIBCXX_3.4.30", "12"),
                          ("GLIBCXX_3.4.32", "13.2"), ("CXXABI_1.3", "9.1"),
                          ("CXXABI_1.3.13", "11"), ("CXXABI_1.3.15", "14"),
                          ("CXXABI_TM_1", "9.1")):
            self.assertEqual(elf_needs.gcc_of_versions([name]), gcc, name)
        self.assertEqual(elf_needs.gcc_of_versions(
            ["CXXABI_1.3.13", "GLIBCXX_3.4.32", "GLIBCXX_3.4.9"]), "13.2")
        for name in ("GLIBCXX_3.4.99", "CXXABI_1.3.99"):
            with self.assertRaisesRegex(SystemExit, name):
                elf_needs.gcc_of_versions([name])

    def test_deb_says_the_least_library_for_all_its_files(self):
        files = [path for path in FOLDERS["tree"].rglob("*")
                 if path.is_file() and elf_needs.is_elf(path)]
        shown = subprocess.run(["readelf", "-VW", *files], check=True,
                               capture_output=True, encoding="utf-8").stdout
        names = set(re.findall(r"Name: ((?:GLIBCXX|CXXABI)_\S+)", shown))
        self.assertTrue(names)
        fields = subprocess.run(["dpkg-deb", "-f", only_file("deb"), "Depends"],
                                check=True, capture_output=True,
                                encoding="utf-8").stdout
        self.assertIn("libstdc++6 (>= "
                      f"{elf_needs.gcc_of_versions(names)})", fields)


class ReproducibleTest(PackageTest):

    def test_packing_again_gives_the_same_bytes(self):
        copy = self.folder / "copy"
        shutil.copytree(FOLDERS["tree"], copy, symlinks=False)
        for path in sorted(copy.rglob("*")):
            path.chmod(0o700)
            os.utime(path, (1, 1))
        for kind in ("tar", "deb", "wheel"):
            again = self.folder / kind
            again.mkdir()
            subprocess.run(
                [sys.executable, "-B", make_package.__file__, kind,
                 f"--tree={copy}", f"--version_header={HEADER}",
                 f"--out={again}"], check=True, umask=0o077,
                env=dict(os.environ, TZ="Asia/Tokyo", LC_ALL="C.UTF-8"))
            made, = again.iterdir()
            self.assertEqual(made.name, only_file(kind).name)
            self.assertEqual(made.read_bytes(), only_file(kind).read_bytes(),
                             kind)


if __name__ == "__main__":
    unittest.main()
