"""Tests test_results.py on event files as Bazel 4.2.3 writes them."""

import contextlib
import io
import json
import os
import tempfile
import unittest

from tools.dev import test_results


def summary(label, status):
    return {"id": {"testSummary": {"label": label}},
            "testSummary": {"totalRunCount": 1, "overallStatus": status}}


def completed(label, success=True):
    return {"id": {"targetCompleted": {"label": label}},
            "completed": {"success": True} if success else {}}


def aborted(label, reason):
    return {"id": {"targetCompleted": {"label": label}},
            "aborted": {"reason": reason}}


class RunTest(unittest.TestCase):

    def run_of(self, exit_status, *events):
        return test_results.Run("run", exit_status, events)

    def test_counts_tests_not_targets(self):
        run = self.run_of(0, completed("//:lib"), completed("//:a_test"),
                          completed("//:filtered_test"),
                          summary("//:a_test", "PASSED"))
        self.assertEqual(run.passed, {"//:a_test"})
        self.assertEqual(run.failed, {})

    def test_every_bad_status_is_a_failure(self):
        run = self.run_of(3, summary("//:a", "FAILED"),
                          summary("//:b", "TIMEOUT"),
                          summary("//:c", "NO_STATUS"),
                          summary("//:d", "PASSED"))
        self.assertEqual(run.failed, {"//:a": "FAILED", "//:b": "TIMEOUT",
                                      "//:c": "NO_STATUS"})
        self.assertEqual(run.passed, {"//:d"})

    def test_a_flaky_test_passes_and_is_told(self):
        run = self.run_of(0, summary("//:a", "FLAKY"))
        self.assertEqual(run.passed, {"//:a"})
        self.assertIn("not at its first attempt", run.describe())

    def test_what_does_not_build_is_a_failure(self):
        run = self.run_of(1, completed("//:lib", success=False),
                          completed("//:a_test", success=False),
                          aborted("//:b", "ANALYSIS_FAILURE"),
                          completed("//:b", success=False))
        self.assertEqual(set(run.failed), {"//:lib", "//:a_test", "//:b"})

    def test_skipping_for_the_platform_is_none(self):
        run = self.run_of(0, aborted("//:gpu_test", "SKIPPED"),
                          summary("//:a", "PASSED"))
        self.assertEqual(run.failed, {})

    def test_a_bad_end_without_a_target_is_one_failure(self):
        run = self.run_of(1, summary("//:a", "PASSED"))
        self.assertEqual(len(run.failed), 1)
        self.assertIn("status 1", run.failed["(bazel)"])

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(self.run_of(0).failed, {"(bazel)": "no test ran"})


class MainTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = test_results.main(arguments)
        return status, out.getvalue().splitlines()

    def test_adds_runs_up(self):
        good = self.file("good", "\n".join(map(json.dumps, [
            summary("//:a", "PASSED"), summary("//:b", "PASSED")])))
        bad = self.file("bad", json.dumps(summary("//:a", "FAILED")))
        self.assertEqual(self.main("x:0:" + good),
                         (0, ["x: 2 passed, 0 failed", "2 passed, 0 failed"]))
        self.assertEqual(
            self.main("x:0:" + good, "y:3:" + bad),
            (1, ["x: 2 passed, 0 failed", "y: 0 passed, 1 failed",
                 "  //:a: FAILED", "2 passed, 1 failed"]))

    def test_a_missing_file_is_a_failure(self):
        status, lines = self.main("x:37:" + self.folder + "/none")
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "0 passed, 1 failed")

    def test_reads_a_file_that_was_cut_short(self):
        path = self.file("cut", json.dumps(summary("//:a", "PASSED"))
                         + '\n{"id": {"testSumm')
        self.assertEqual(self.main("x:8:" + path)[1][-1], "1 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()
