"""Tests what mutate.py does around universalmutator."""

import subprocess
import tempfile
import pathlib
import unittest
from unittest import mock

from tools.dev import mutate


def mutant(line, after="b\n"):
    return mutate.Mutant("x.cc", line, "a\n", after)


class ChoiceTest(unittest.TestCase):

    def test_mistakes_go_into_what_is_tested(self):
        for name in ("arena.cc", "p/arena.h", "p/contest.cc"):
            self.assertTrue(mutate.is_tested_code(name), name)
        for name in ("arena_test.cc", "test_arena.h", "range_benchmark.cc",
                     "BUILD.bazel", "x.py"):
            self.assertFalse(mutate.is_tested_code(name), name)

    def test_a_larger_sample_begins_with_the_smaller_one(self):
        mutants = [mutant(line) for line in range(100)]
        small = mutate.draw(mutants, set(), 3, seed=7)
        large = mutate.draw(mutants[::-1], set(), 10, seed=7)
        self.assertEqual(large[:len(small)], small)
        self.assertNotEqual(mutate.draw(mutants, set(), 3, seed=8), small)

    def test_what_changes_nothing_is_not_drawn(self):
        known = mutate.read_without_effect(
            "# a comment\n\nx.cc | a | b | only makes it slower\n")
        left = mutate.draw([mutant(1), mutant(2, "c\n")], known, 5, seed=1)
        self.assertEqual(left, [mutant(2, "c\n")])

    def test_what_changes_nothing_needs_a_reason(self):
        for row in ("x.cc | a | b", "x.cc | a | b | "):
            with self.assertRaises(SystemExit):
                mutate.read_without_effect(row)

    def test_the_difference_shows_the_line(self):
        text = mutate.difference(mutant(2), ["z\n", "a\n", "z\n"])
        self.assertIn("\n-a\n+b\n", text)


class NearestTestsTest(unittest.TestCase):

    def of(self, file, tests, builds):
        """The tests for a file, in a workspace with these tests."""
        def run_query(expression):
            if "deps(" in expression:
                test = expression.split("deps(")[1].split(")")[0]
                return builds.get(test, [])
            package = expression.split("tests(")[1].split(")")[0]
            folder = package.removeprefix("//").removesuffix(":all")
            below = folder.removesuffix("/...")
            return [t for t in tests
                    if t.startswith(f"//{folder}:") or
                    below != folder and t.startswith(f"//{below}/")]
        return mutate.NearestTests(run_query).of(file)

    def test_those_of_the_folder_that_build_the_file(self):
        self.assertEqual(
            self.of("p/a.cc", ["//p:a_test", "//p:b_test", "//q:a_test"],
                    {"//p:a_test": ["//p:a.cc"], "//p:b_test": ["//p:b.cc"],
                     "//q:a_test": ["//p:a.cc"]}),
            ["//p:a_test"])

    def test_then_those_below_then_those_above(self):
        builds = {t: ["//p/q:a.cc"]
                  for t in ("//p:x_test", "//p/q/r:y_test", "//z:z_test")}
        self.assertEqual(self.of("p/q/a.cc", list(builds), builds),
                         ["//p/q/r:y_test"])
        del builds["//p/q/r:y_test"]
        self.assertEqual(self.of("p/q/a.cc", list(builds), builds),
                         ["//p:x_test"])
        del builds["//p:x_test"]
        self.assertEqual(self.of("p/q/a.cc", list(builds), builds), [])

    def test_some_folders_are_tested_elsewhere(self):
        self.assertEqual(
            self.of("profiler/api/a.h", ["//profiler/callbacks:c_test"],
                    {"//profiler/callbacks:c_test": ["//profiler/api:a.h"]}),
            ["//profiler/callbacks:c_test"])


class OutcomeTest(unittest.TestCase):

    def test_bazel_says_what_became_of_it(self):
        for status, output, outcome in (
                (0, "Executed 1 out of 2 tests: 2 tests pass.", "SURVIVED"),
                (0, "Executed 0 out of 2 tests: 2 tests pass.", "same code"),
                (1, "", "does not compile"), (3, "", "caught"),
                (37, "", None)):
            self.assertEqual(mutate.outcome_of(status, output), outcome)

    def test_without_tests_it_survives(self):
        self.assertEqual(
            mutate.try_mutant(pathlib.Path("/nowhere"), mutant(1), ["a\n"], []),
            "SURVIVED")

    def test_folders_are_taken_with_those_below_if_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "p" / "q").mkdir(parents=True)
            for name in ("p/a.cc", "p/a_test.cc", "p/q/b.h"):
                (root / name).write_text("")
            with mock.patch.object(mutate, "ROOT", root):
                self.assertEqual(mutate.files_of("p"), [root / "p/a.cc"])
                self.assertEqual(mutate.files_of("p/..."),
                                 [root / "p/a.cc", root / "p/q/b.h"])


class CopyTest(unittest.TestCase):

    def test_the_copy_becomes_like_the_workspace(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "root")
            copy = pathlib.Path(folder, "copy")
            (root / "sub").mkdir(parents=True)
            copy.mkdir()
            (root / "sub" / "same").write_text("1")
            (root / "other").write_text("2")
            (root / "ignored").write_text("3")
            (root / ".gitignore").write_text("ignored\n")
            (copy / "other").write_text("a mistake that was left")
            (copy / "gone").write_text("x")
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            with mock.patch.object(mutate, "ROOT", root):
                mutate.copy_workspace(copy)
            self.assertEqual(
                {str(p.relative_to(copy)): p.read_text()
                 for p in copy.rglob("*") if p.is_file()},
                {".gitignore": "ignored\n", "other": "2", "sub/same": "1"})


if __name__ == "__main__":
    unittest.main()
