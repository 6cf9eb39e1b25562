"""Tests check_deps.py on small trees."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from tools.dev import check_deps

HEADERS = ('kymo_cc_library(name = "b", hdrs = ["b.h"])\n'
           'kymo_cc_library(name = "c", hdrs = ["c.h"], deps = [":b"])\n')


class CheckDepsTest(unittest.TestCase):

    def assert_only(self, build, includes, *expected):
        files = {"a/BUILD.bazel": 'load("//x.bzl", "cc_library")\n' + build,
                 "a/a.cc": "".join(f'#include "{name}"\n' for name in includes),
                 "h/BUILD.bazel": HEADERS}
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            violations, count = check_deps.check(root)
        self.assertGreaterEqual(count, 3)
        self.assertEqual(violations, list(expected))

    def test_a_dep_of_a_dep_is_not_enough(self):
        self.assert_only(
            'kymo_cc_library(name = "a", srcs = ["a.cc"], deps = ["//h:c"])',
            ["h/b.h", "h/c.h", "elsewhere.h"],
            "a/BUILD.bazel: //a:a includes h/b.h and needs the dep //h:b")

    def test_all_branches_and_lists_of_deps_count(self):
        self.assert_only(
            'kymo_cc_library(name = "a", srcs = SOURCES + ["a.cc"] + NONE,\n'
            '    deps = ["//h:c"] + select({"x": ["//h:b"], "y": []}))',
            ["h/b.h", "h/c.h"])

    def test_own_headers_need_no_dep(self):
        self.assert_only(
            '[kymo_cc_test(name = n, srcs = ["a.cc", "//h:b.h"]) for n in "a"]',
            ["h/b.h"])

    def test_a_target_without_files_stands_for_its_deps(self):
        self.assert_only(
            'kymo_cc_library(name = "a", srcs = ["a.cc"], deps = [":all"])\n'
            'kymo_cc_library(name = "all", deps = [":alias"])\n'
            'alias(name = "alias", actual = "//h:b")',
            ["h/b.h"])

    def test_other_rules_have_no_sources(self):
        self.assert_only('genrule(name = "a", srcs = ["a.cc"])\n'
                         'kymo_cc_library(name = "z")', ["h/b.h"])


if __name__ == "__main__":
    unittest.main()
