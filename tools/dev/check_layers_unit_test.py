"""Tests check_layers.py on small trees, most of them bad."""

import os
import tempfile
import unittest

from tools.dev import check_layers

TABLE = """
# A comment.
alias kymo = profiler/api
generated .pb.h
tests *_test.cc
profiler/base   :
profiler/record : profiler/base
profiler/api    : profiler/base profiler/record profiler/library
profiler/library : profiler/api backends/builtin
backends/*      : profiler/base
backends/builtin : backends/*
exporters/*     : profiler/base
tests/*         : profiler/*
@tests          : tests/support
vendor tbb/     : profiler/base/parallel.h
vendor absl/    : backends/*
vendor gtest/ gmock/ : @tests
"""


def header(path, *lines):
    guard = "KYMO_" + path.upper().replace("/", "_").replace(".", "_") + "_"
    return "\n".join([f"#ifndef {guard}", f"#define {guard}", *lines,
                      "#endif"]) + "\n"


def tree(*paths):
    """A tree of sound headers."""
    return {path: header(path) for path in paths}


class CheckLayersTest(unittest.TestCase):

    def check(self, files):
        table = check_layers.Table(TABLE)
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            violations, count = check_layers.check(root, table)
        self.assertEqual(count, sum(
            path.endswith(check_layers.EXTENSIONS) for path in files))
        return violations

    def assert_only(self, files, *expected):
        self.assertEqual(self.check(files), list(expected))

    def test_accepts_what_follows_the_arrows(self):
        files = tree("profiler/base/time.h", "profiler/api/record.h",
                     "backends/cpu/cpu.h", "tests/support/fake.h")
        files["backends/cpu/cpu.cc"] = (
            '#include "backends/cpu/cpu.h"\n#include <vector>\n'
            '#include "absl/status/status.h"\n'
            '#include "profiler/base/time.h"\n')
        files["backends/cpu/cpu_test.cc"] = (
            '#include "backends/cpu/cpu.h"\n#include "gtest/gtest.h"\n'
            '#include "tests/support/fake.h"\n')
        files["profiler/api/record.cc"] = '#include "kymo/record.h"\n'
        files["profiler/base/parallel.h"] = header(
            "profiler/base/parallel.h", "#include <tbb/parallel_for.h>")
        self.assert_only(files)

    def test_finds_an_include_against_the_arrows(self):
        files = tree("profiler/record/arena/arena.h")
        files["profiler/base/a.cc"] = (
            '#include <vector>\n\n#include "profiler/record/arena/arena.h"\n')
        self.assert_only(
            files, "profiler/base/a.cc:3: profiler/base may not include"
            " profiler/record ('profiler/record/arena/arena.h')")

    def test_resolves_public_names(self):
        files = tree("profiler/api/record.h")
        files["profiler/base/a.cc"] = '#include "kymo/record.h"\n'
        self.assert_only(
            files, "profiler/base/a.cc:1: profiler/base may not include"
            " profiler/api ('kymo/record.h')")

    def test_plugins_do_not_know_each_other(self):
        files = tree("backends/cpu/cpu.h")
        include = '#include "backends/cpu/cpu.h"\n'
        files["backends/nvtx/a.cc"] = include
        files["backends/builtin/a.cc"] = include
        self.assert_only(
            files, "backends/nvtx/a.cc:1: backends/nvtx may not include"
            " backends/cpu ('backends/cpu/cpu.h')")

    def test_a_folder_below_an_area_is_of_it_unless_it_has_a_row(self):
        files = tree("profiler/base/deep/a.h", "backends/builtin/list.h")
        files["profiler/base/deep/b.cc"] = (
            '#include "profiler/base/deep/a.h"\n'
            '#include "backends/builtin/list.h"\n')
        self.assert_only(
            files, "profiler/base/deep/b.cc:2: profiler/base may not include"
            " backends/builtin ('backends/builtin/list.h')")

    def test_what_implements_a_public_header_includes_it_first(self):
        files = tree("backends/builtin/list.h", "profiler/api/profile.h")
        files["profiler/library/profile.cc"] = (
            '#include "backends/builtin/list.h"\n'
            '#include "kymo/profile.h"\n')
        self.assert_only(
            files, "profiler/library/profile.cc:1: the first include must be"
            " 'profiler/api/profile.h'")

    def test_the_target_does_not_include_the_collector(self):
        table = ("profiler/record : profiler/base\n"
                 "profiler/base :\nprofiler/model : profiler/base\n"
                 "world both : profiler/base\n"
                 "world target : profiler/record\n"
                 "world collector : profiler/model\n")
        check_layers.Table(table)
        with self.assertRaisesRegex(check_layers.TableError, "runs after it"):
            check_layers.Table(
                table + "profiler/record : profiler/model\n")
        with self.assertRaisesRegex(check_layers.TableError, "in no world"):
            check_layers.Table(table + "profiler/other : profiler/base\n")

    def test_only_tests_include_test_support(self):
        files = tree("tests/support/fake.h")
        files["profiler/base/a.cc"] = (
            '#include "tests/support/fake.h"\n#include "gtest/gtest.h"\n')
        self.assert_only(
            files, "profiler/base/a.cc:1: profiler/base may not include"
            " tests/support ('tests/support/fake.h')",
            "profiler/base/a.cc:2: 'gtest/gtest.h' is only for @tests")

    def test_vendor_headers_stay_in_their_place(self):
        self.assert_only(
            {"profiler/base/a.cc": "#include <tbb/parallel_for.h>\n",
             "exporters/x/b.cc": '#include "absl/strings/str_cat.h"\n'},
            "exporters/x/b.cc:1: 'absl/strings/str_cat.h' is only for"
            " backends/*",
            "profiler/base/a.cc:1: 'tbb/parallel_for.h' is only for"
            " profiler/base/parallel.h")

    def test_includes_are_rooted_at_the_workspace(self):
        files = tree("profiler/base/time.h")
        files["profiler/base/a.cc"] = (
            '#include "time.h"\n#include "../base/time.h"\n'
            '#include <profiler/base/time.h>\n')
        self.assert_only(
            files, "profiler/base/a.cc:1: 'time.h' is neither a file from the"
            " workspace's root nor a vendor header of the table",
            "profiler/base/a.cc:2: '../base/time.h' goes through '..'",
            "profiler/base/a.cc:3: <profiler/base/time.h> is ours: use quotes")

    def test_the_own_header_comes_first(self):
        files = tree("profiler/base/a.h", "profiler/base/b.h")
        files["profiler/base/a.cc"] = (
            '#include <vector>\n#include "profiler/base/a.h"\n')
        files["profiler/base/a_test.cc"] = '#include "profiler/base/b.h"\n'
        files["profiler/base/b.cc"] = "int b;\n"
        self.assert_only(
            files, "profiler/base/a.cc:1: the first include must be"
            " 'profiler/base/a.h'",
            "profiler/base/a_test.cc:1: the first include must be"
            " 'profiler/base/a.h'",
            "profiler/base/b.cc:1: the first include must be"
            " 'profiler/base/b.h'")

    def test_guards_follow_the_path(self):
        self.assert_only(
            {"profiler/base/a.h": header("profiler/base/b.h"),
             "profiler/base/c.h": "#pragma once\n"},
            "profiler/base/a.h:1: the include guard must be"
            " KYMO_PROFILER_BASE_A_H_",
            "profiler/base/c.h:1: the include guard must be"
            " KYMO_PROFILER_BASE_C_H_")

    def test_descriptors_stay_above_the_standard_streams(self):
        told = ": a descriptor below 3 may be the program's closed standard" \
            " stream: use OwnedDescriptor or AboveStandardStreams()"
        self.assert_only(
            {"profiler/base/a.cc":
             "int open(const char*);\n"
             "int a = AboveStandardStreams(\n    open(path));\n"
             "int b = open(path);  // open(path)\n"
             "int c() {\n  return memfd_create(name, 0);\n}\n"
             "int d = static_cast<int>(syscall(SYS_perf_event_open, &e));\n"
             "std::ofstream file(path);\n"
             "bool e = table.open(path) && list.socket(1);\n"
             "OwnedDescriptor f(\n    open(path));\n"
             "g = OwnedDescriptor(mkostemp(path, 0));\n",
             "profiler/base/a_test.cc": "int a = open(path);\n"},
            "profiler/base/a.cc:4" + told, "profiler/base/a.cc:6" + told,
            "profiler/base/a.cc:8" + told, "profiler/base/a.cc:9" + told)

    def test_files_outside_the_table_are_told(self):
        files = tree("profiler/base/a.h")
        files["new/folder/a.cc"] = "int a;\n"
        self.assert_only(files, "new/folder/a.cc:1: is in no row of the table")

    def test_generated_headers_need_their_source(self):
        files = {"exporters/x/a.proto": "",
                 "exporters/x/a.cc": '#include "exporters/x/a.pb.h"\n'
                                     '#include "exporters/x/b.pb.h"\n'}
        self.assert_only(
            files, "exporters/x/a.cc:2: 'exporters/x/b.pb.h' is neither a file"
            " from the workspace's root nor a vendor header of the table")

    def test_comments_and_strings_are_no_includes(self):
        self.assert_only({"profiler/base/a.cc": (
            '// #include "none.h"\n/*\n#include "none.h"\n*/\n'
            'const char* a = R"(\n#include "none.h"\n)";\n'
            "const char b = '\"';\n// it's\nconst char c = '/';\n")})

    def test_a_test_includes_googletest(self):
        test = '#include <vector>\nTEST(A, B) {}\n'
        self.assert_only(
            {"profiler/base/a_test.cc": test,
             "profiler/base/b_test.cc": "#include <gmock/gmock.h>\n" + test,
             "profiler/base/c_test.cc": "// TEST() it\n//\nint c;\n"},
            "profiler/base/a_test.cc:2: TEST() needs the include"
            " <gtest/gtest.h>")

    def test_a_broken_table_is_told(self):
        for line in ("profiler/base", "a : b : c", "alias kymo"):
            with self.assertRaisesRegex(check_layers.TableError,
                                        "layers.txt:1: cannot read"):
                check_layers.Table(line)


if __name__ == "__main__":
    unittest.main()
