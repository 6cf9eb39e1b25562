"""Programs that annotate themselves with what the packages hold.

Each is built outside of the workspace, as its author would, and recorded by the
program of the package.
"""

import json
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

CONSUMERS = pathlib.Path("tests/install/consumers").resolve()
GUIDE = pathlib.Path("docs/annotate.md").resolve()
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
MOST_BYTES = 100 << 10
SYSTEM = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def run(*command, **environment):
    """Runs it in an environment that has nothing of ours; returns its output."""
    done = subprocess.run([str(word) for word in command], timeout=240,
                          env=dict(SYSTEM, **environment), encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n"
                             f"{done.stdout}")
    return done.stdout


class ConsumersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        package, = pathlib.Path("packaging/tar").resolve().iterdir()
        with tarfile.open(package) as archive:
            archive.extractall(folder.name)
        cls.root, = pathlib.Path(folder.name).iterdir()
        cls.archive = cls.root / "lib/libkymo-annotate.a"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def pkg_config(self, *words):
        return run("pkg-config", *words, "kymo-annotate",
                   PKG_CONFIG_PATH=str(self.root / "lib/pkgconfig")).split()

    def build(self, compiler, source, *flags, name="program", libraries=()):
        """Builds a program as pkg-config says; `libraries` come last."""
        run(compiler, *WARNINGS, *self.pkg_config("--cflags"), "-O2",
            CONSUMERS / source, "-o", self.folder / name,
            *flags, *self.pkg_config("--libs"), *libraries)
        return self.folder / name

    def record(self, *target):
        """Records it and returns its ranges: {name: [event]}, by time."""
        out = self.folder / "out"
        run(self.root / "bin/kymo", "--activities=cpu", "--export=chrome",
            "--quiet", f"--output_dir={out}", "--", *target)
        with open(out / "summary.json", encoding="utf-8") as file:
            self.summary = json.load(file)
        with open(out / "trace.json", encoding="utf-8") as file:
            self.events = json.load(file)["traceEvents"]
        run(self.root / "bin/kymo", "report", "--check", out / "trace.json")
        self.table = (out / "key_averages.txt").read_text(encoding="utf-8")
        ranges = {}
        for event in sorted((e for e in self.events if e["ph"] == "X"),
                            key=lambda event: event["ts"]):
            ranges.setdefault(event["name"], []).append(event)
        return ranges

    def check_program_and_library(self, program):
        """program.c and library.c have copies of their own, and one host."""
        ranges = self.record(program)
        counts = {row["name"]: row["count"]
                  for row in self.summary["key_averages"]}
        self.assertEqual((counts["step"], counts["library"]), (3, 3))
        self.assertRegex(self.table, r"\n +step ")
        self.assertRegex(self.table, r"\n +library ")
        for number, (step, library) in enumerate(zip(ranges["step"],
                                                     ranges["library"])):
            self.assertEqual((step["cat"], library["cat"]),
                             ("cpu_op", "cpu_op"))
            self.assertEqual(step["args"]["number"], number)
            self.assertEqual(step["args"]["said"], "after the library")
            self.assertEqual(library["args"]["share"], 0.25)
            self.assertEqual(library["tid"], step["tid"])
            self.assertGreaterEqual(library["ts"], step["ts"])
            self.assertLessEqual(library["ts"] + library["dur"],
                                 step["ts"] + step["dur"])
        self.assertIn("loaded", [event["name"] for event in self.events
                                 if event["ph"] == "i"])
        self.assertIn(2.5, [list(event["args"].values())[0]
                            for event in self.events
                            if event["name"] == "queue"])

    def test_c_with_pkg_config(self):
        flags = ["-std=c89"]
        self.build("gcc", "library.c", *flags, "-shared", "-fPIC",
                   name="libpart.so")
        program = self.build("gcc", "program.c", *flags, f"-L{self.folder}",
                             "-lpart", "-Wl,-rpath,$ORIGIN")
        self.check_program_and_library(program)

    def test_c_with_cmake(self):
        build = self.folder / "build"
        run("cmake", "-S", CONSUMERS, "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.root}")
        run("cmake", "--build", build)
        self.check_program_and_library(build / "program")

    def check_session(self, program):
        """session.cc records itself and its shared libraries."""
        trace = self.folder / "trace.json"
        table = run(program, trace)
        self.assertTrue(table.endswith("\nOK\n"), table)
        with open(trace, encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"]
                      if event["ph"] == "X"]
        for name in ("step", "in C", "work", "library"):
            self.assertRegex(table, rf"\n +{name} .* 3 +\n")
            stacks = [event["args"]["Call stack"] for event in events
                      if event["name"] == name]
            self.assertEqual(len(stacks), 3)
            for stack in stacks:
                self.assertIn("main", stack)
        for line in run("ldd", program).splitlines():
            name, arrow, path = line.strip().partition(" => ")
            # Other libraries are the system's, which may be newer than ours.
            self.assertEqual(str(self.root) in path,
                             bool(re.match("lib(kymo|absl)", name)), line)

    def test_sessions_with_cmake_and_pkg_config(self):
        # Every header compiles, in any order. tbb.h needs the user's oneTBB.
        headers = sorted((self.root / "include/kymo").glob("*.h"),
                         reverse=True)
        self.assertGreater(len(headers), 25)
        together = self.folder / "together.h"
        together.write_text("".join(f'#include "kymo/{header.name}"\n'
                                    for header in headers
                                    if header.name != "tbb.h") +
                            # As in README.md.
                            "inline kymo::ProfileExportOptions Options() {\n"
                            "  return {.gzip = true, .max_file_mib = 64};\n"
                            "}\n")
        flags = self.folder / "flags.cmake"
        flags.write_text("add_compile_options(-Wall -Wextra -pedantic -Werror "
                         '"$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include '
                         f'{together}>")\n')
        build = self.folder / "build"
        run("cmake", "-S", CONSUMERS / "session", "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.root}",
            f"-DCMAKE_PROJECT_INCLUDE={flags}",
            "-DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON")
        run("cmake", "--build", build)
        program = build / "session"
        self.check_session(program)
        # Two sessions record at once: the program's and that of the command.
        ranges = self.record(program, self.folder / "trace.json")
        for name in ("step", "in C", "work", "library"):
            self.assertEqual(len(ranges[name]), 3)
        libraries = run("pkg-config", "--libs", "kymo",
                        PKG_CONFIG_PATH=str(self.root / "lib/pkgconfig"))
        again = self.folder / "again"
        run("g++", *build.rglob("session.cc.o"), "-o", again,
            f"-L{build}", f"-Wl,-rpath,{build}", "-lwork", "-lpart",
            *libraries.split())
        self.check_session(again)

    def test_another_abseil_in_the_same_source_is_an_error(self):
        source = self.folder / "both.cc"
        command = ["g++", "-std=c++20", "-fsyntax-only", "-Wfatal-errors",
                   f"-I{self.root}/include", source]
        ours, other = "kymo/schedule.h", "absl/status/status.h"
        for headers, says in (
                ((other, ours), "bring an Abseil of their own"),
                # This one is the other Abseil's own.
                ((ours, other), r"/usr/include/absl/.*error: .*"
                                r"ABSL_HAVE_TLS cannot be directly set")):
            source.write_text("".join(f'#include "{header}"\n'
                                      for header in headers) +
                              "absl::Status status;\n")
            with self.assertRaises(AssertionError) as caught:
                run(*command)
            self.assertRegex(str(caught.exception), says)

    def test_another_abseil_in_another_source_is_used_as_well(self):
        program = self.folder / "program"
        both = run("pkg-config", "--cflags", "--libs", "kymo",
                   PKG_CONFIG_PATH=str(self.root / "lib/pkgconfig"))
        others = run("pkg-config", "--libs", "absl_status", "absl_strings")
        run("g++", "-std=c++20", *(CONSUMERS / "abseils").glob("*.cc"),
            "-o", program, *both.split(), *others.split())
        said = run(program)
        self.assertRegex(said, r"\A\S.*active.*\nINVALID_ARGUMENT: other 0\n")

    def test_cmake_says_what_the_package_does_not_have(self):
        project = self.folder / "CMakeLists.txt"
        for asked, says in (("Kymo REQUIRED COMPONENTS python",
                             "no component python"),
                            ("Kymo 1.0 REQUIRED", 'version "1.0"'),
                            ("Kymo 0.0...0.0.5 REQUIRED", "0.0...0.0.5"),
                            ("Kymo 99.0 REQUIRED", 'version "99.0"')):
            project.write_text("cmake_minimum_required(VERSION 3.16)\n"
                               f"project(p NONE)\nfind_package({asked})\n")
            with self.assertRaises(AssertionError) as caught:
                run("cmake", "-S", self.folder, "-B", self.folder / "build",
                    f"-DCMAKE_PREFIX_PATH={self.root}")
            self.assertIn(says, str(caught.exception))

    def test_c_plus_plus(self):
        program = self.build("g++", "program.cc", "-std=c++98")
        ranges = self.record(program)
        outer, = ranges["outer"]
        for number in range(3):
            inner, = ranges[f"inner {number}"]
            self.assertGreaterEqual(inner["ts"], outer["ts"])
            self.assertLessEqual(inner["ts"] + inner["dur"],
                                 outer["ts"] + outer["dur"])

    def test_programs_of_the_guide(self):
        text = GUIDE.read_text(encoding="utf-8")
        blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S))
        sources = {}
        for language, name in (("c", "guide.c"), ("fortran", "guide.f90"),
                               ("python", "guide.py")):
            sources[language] = self.folder / name
            sources[language].write_text(blocks[language], encoding="utf-8")
        targets = {
            "c": [self.build("gcc", sources["c"], name="in_c")],
            "fortran": [self.build("gfortran", sources["fortran"],
                                   name="in_fortran")],
            "python": ["/usr/bin/python3", "-B", sources["python"],
                       self.pkg_config("--variable=shared_library")[0]]}
        for language, target in targets.items():
            with self.subTest(language):
                steps = self.record(*target)["step"]
                self.assertEqual([step["args"]["number"] for step in steps],
                                 [1, 2, 3] if language == "fortran"
                                 else [0, 1, 2])

    def test_does_nothing_when_nobody_records(self):
        program = self.build("g++", "program.cc", "-std=c++98")
        done = subprocess.run([program], env={}, capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, b"", b""))

    def test_copy_of_a_static_program_records_by_itself(self):
        program = self.build("g++", "program.cc", "-std=c++98", "-static")
        done = subprocess.run([program], env={})
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(self.record(program)["outer"]), 1)
        said = run(self.root / "bin/kymo", "--activities=cpu",
                   f"--output_dir={self.folder}/out", "--", program)
        self.assertIn("program is statically linked, so nothing can be "
                      "preloaded into it: only its own ranges are recorded",
                      said)
        self.assertNotIn("was not recorded", said)

    def test_needs_no_symbol_that_may_be_missing(self):
        # A weak symbol that nobody defines is null, and no linker says so.
        archive = self.root / "lib/libkymo-annotate.a"
        undefined = run("nm", "-u", archive)
        self.assertIn("U memcpy", undefined)
        self.assertNotRegex(undefined, r"(?m)^ +[wv] |_Z")

    def test_needs_the_c_library_alone_and_is_small(self):
        hello = self.folder / "hello.c"
        sizes = []
        for body in ("", 'kymo_push("hello"); kymo_pop();'):
            hello.write_text('#include <stdio.h>\n#include "kymo/annotate.h"\n'
                             f'int main(void) {{ {body} puts("hello"); '
                             'return 0; }\n')
            # Every compiler links libgcc.a, its own helpers.
            program = self.build("gcc", hello, "-nodefaultlibs",
                                 libraries=["-lc", "-lgcc"])
            self.assertEqual(run(program), "hello\n")
            sizes.append(program.stat().st_size)
            needs = re.findall(r"\(NEEDED\).*\[(.*)\]",
                               run("readelf", "-dW", program))
            self.assertEqual(needs, ["libc.so.6"])
        print(f"hello world takes {sizes[1] - sizes[0]} bytes more")
        self.assertLess(sizes[0], sizes[1])
        self.assertLessEqual(sizes[1] - sizes[0], MOST_BYTES)

    def test_names_are_those_of_the_header(self):
        header = (self.root / "include/kymo/annotate.h").read_text(
            encoding="utf-8")
        declared = set(re.findall(r"^\w+ (kymo_\w+)\(", header, re.M))
        self.assertGreater(len(declared), 5)
        shown = run("nm", "--defined-only", "--extern-only", self.archive)
        self.assertEqual(set(re.findall(r" \w (\S+)$", shown, re.M)),
                         declared)
        library = self.root / "lib/kymo/libkymo_annotate.so"
        shown = run("nm", "-D", "--defined-only", "--extern-only", library)
        self.assertEqual(set(re.findall(r" \w (\S+)$", shown, re.M)),
                         declared)
        # What a library links of it is not another library's.
        self.build("gcc", "library.c", "-shared", "-fPIC", name="libpart.so")
        shown = run("nm", "-D", "--defined-only", "--extern-only",
                    self.folder / "libpart.so")
        self.assertEqual(set(re.findall(r" \w (\S+)$", shown, re.M)),
                         {"LibraryWork"})

    def test_gets_along_with_other_code_of_the_same_names(self):
        """As of a program that links Kymo's other libraries, too."""
        shown = run("nm", "--defined-only", self.archive)
        inner = sorted(set(re.findall(r" [tTbBdD] (_ZN4kymo6record\w+)$",
                                      shown, re.M)))
        self.assertGreater(len(inner), 10)
        other = self.folder / "other.s"
        other.write_text("".join(f".globl {name}\n{name}:\n"
                                 for name in inner) +
                         '.section .note.GNU-stack,"",@progbits\n')
        program = self.build("g++", "program.cc", "-std=c++98", other)
        self.assertEqual(len(self.record(program)["outer"]), 1)


if __name__ == "__main__":
    unittest.main()
