"""Tests check_sources.py on small trees."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from tools.dev import check_sources

WIDE = "x" * 81


class CheckSourcesTest(unittest.TestCase):

    def assert_only(self, files, *expected):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            violations, _ = check_sources.check(root)
        self.assertEqual(violations, list(expected))

    def test_lines_have_80_columns(self):
        self.assert_only({"a/a.cc": f"{WIDE[1:]}\n// {WIDE}\n",
                          "a/b.h": f"{WIDE}\n", "a/c.py": f"{WIDE}\n"},
                         "a/a.cc:2: more than 80 columns",
                         "a/b.h:1: more than 80 columns")

    def test_some_lines_cannot_be_cut(self):
        self.assert_only({"a/a.cc": (
            f"// https://{WIDE}\n#include <{WIDE}>\n"
            f'const char* a = R"(\n{WIDE}\n)";\nR"x(\n{WIDE})" )x"\n')})

    def test_lines_behind_a_raw_string_keep_their_numbers(self):
        self.assert_only({"a/a.cc": f'R"(\n\n)";\n{WIDE}\n'},
                         "a/a.cc:4: more than 80 columns")

    def test_clang_14_knows_all_algorithms(self):
        self.assert_only(
            {"a/a.cc": "std::ranges::sort(a);\nstd::ranges::unique(a);\n"
                       "std::ranges::find_if(a, b);\nstd::views::iota(1);\n"},
            "a/a.cc:2: clang 14 cannot compile std::ranges::unique of GCC 12's"
            " library",
            "a/a.cc:4: clang 14 cannot compile std::views of GCC 12's library")

    def test_printf_of_doubles(self):
        text = 'std::snprintf(a, sizeof(a), "%d %.*f", b, c);\nprintf("%d");\n'
        self.assert_only(
            {"profiler/a.cc": text, "profiler/a_test.cc": text,
             "backends/a/target/b.cc": text, "examples/a.cc": text},
            "profiler/a.cc:1: printf's point is the locale's: use std::to_chars"
            " or absl::StrFormat")

    def test_long_sources_say_why(self):
        told = (":1: has 401 lines: cut it where a reader would, or say in its"
                ' first comment why not ("Long, because ...")')
        code = "int a;\n"
        reason = "// a.cc - does it.\n//\n// Long,\n// because it is.\n"
        self.assert_only(
            {"a/a.cc": code * 400,
             "a/b.cc": code * 401,
             "a/c.cc": reason + code * 400,
             "a/d.cc": code + reason + code * 400,
             "a/e.cc": "// d\n" + code * 398 + "// Long, because\n" + code,
             "a/f.py": '"""Does it.\n\nLong, because it is.\n"""\n' + code * 400,
             "a/g.py": "#!/usr/bin/env python3\n" + code * 400,
             "a/h.sh": "#!/bin/sh\n# Long, because it is.\n" + code * 400},
            "a/b.cc" + told, "a/e.cc" + told, "a/g.py" + told)

    def test_folders_are_not_full(self):
        full = {f"a/{i}.cc": "" for i in range(45)}
        self.assert_only(full)
        self.assert_only({**full, "a/b/x.cc": "", "a/x.txt": ""})
        self.assert_only(
            {**full, "a/x.py": ""},
            "a:1: has 46 sources, of which a reader sees at most 45: make a"
            " folder of some")

    def test_no_initial_exec_variable_is_local(self):
        variable = 'thread_local int a __attribute__((tls_model("initial-exec")));\n'
        space = "namespace {\n%s}  // namespace\n"
        self.assert_only({"a/b.cc": variable + space % "int b;\n" + variable})
        self.assert_only(
            {"a/b.cc": variable + space % variable},
            "a/b.cc:3: gold gives an initial-exec variable another one's place:"
            " take it out of the anonymous name space, and hide it")

    def test_a_unit_test_is_in_a_program(self):
        test = 'kymo_cc_unit_test(\n    name = "a_test",\n)\n\n'
        program = "kymo_cc_unit_tests()\n"
        self.assert_only({"a/BUILD.bazel": test + test + program})
        self.assert_only(
            {"a/BUILD.bazel": test, "b/BUILD.bazel": test + program + test},
            "a/BUILD.bazel:1: is in no program: put kymo_cc_unit_tests() below"
            " it",
            "b/BUILD.bazel:6: is in no program: put kymo_cc_unit_tests() below"
            " it")

    def test_modules_have_what_build_files_name(self):
        uses = ('# "@none//"\ndeps = ["@bazel_tools//a",\n"@zlib//:zlib",'
                '\n"@cuda//:cuda"]\n')
        module = 'bazel_dep(name = "zlib")\n'
        self.assert_only({"a/BUILD.bazel": uses})
        self.assert_only({"./MODULE.bazel": module, "a/BUILD.bazel": uses},
                         "a/BUILD.bazel:4: MODULE.bazel does not have the module"
                         " cuda")


if __name__ == "__main__":
    unittest.main()
