"""A recording that is larger than memory ends with its table and its stacks."""

import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
# As many as take more memory than the limit of the test.
MANY = int(os.environ.get("KYMO_RANGES", "0"))


class MemoryLimitTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "out")

    def profile(self, count, *flags, status=0, **options):
        """What the command says on standard error."""
        completed = subprocess.run(
            [PROFILE, "--activities=cpu", f"--output_dir={self.out}", *flags,
             TARGET, "ranges", str(count)],
            capture_output=True, check=False, encoding="utf-8", **options)
        self.assertEqual(completed.returncode, status, completed.stderr)
        return completed.stderr

    def read(self, name):
        return pathlib.Path(self.out, name).read_text(encoding="utf-8")

    def expect_all_of_it(self, count):
        """Every range counts in the table, the stacks and the summary."""
        table = {line.split()[0]: line.split()[-1]
                 for line in self.read("key_averages.txt").splitlines()
                 if line.strip() and not line.startswith(("-", "Self"))}
        self.assertEqual(table["inner"], str(count))
        self.assertEqual(table["outer"], "1")
        stacks = dict(line.rsplit(" ", 1)
                      for line in self.read("stacks.folded").splitlines())
        self.assertEqual(sorted(stacks), ["target;outer", "target;outer;inner"])
        summary = json.loads(self.read("summary.json"))
        self.assertFalse(summary["anything_lost"])
        self.assertEqual(
            {a["name"]: a["count"] for a in summary["key_averages"]},
            {"inner": count, "outer": 1})

    def test_table_and_stacks_come_out(self):
        count = 1_000_000
        says = self.profile(count, "--cpu_max_memory=40MiB")
        self.assertIn("more than the 40 MiB that may be taken", says)
        self.assertIn("not written, because it needs the whole trace: chrome",
                      says)
        self.assertIn("kymo.raw: `kymo report` reads it", says)
        self.assertEqual(
            sorted(os.listdir(self.out)),
            [".kymo-files", "key_averages.txt", "kymo.raw", "report.html",
             "stacks.folded", "summary.json"])
        self.expect_all_of_it(count)

    def test_samples_keep_their_stacks(self):
        # Enough work for the timer's samples, and for the limit.
        self.profile(1_000_000, "--activities=cpu,sampling",
                     "--sampling_sampler=timer", "--cpu_max_memory=40MiB")
        summary = json.loads(self.read("summary.json"))
        samples = sum(f["self_samples"] for f in summary["sampled_functions"])
        self.assertGreater(samples, 0)
        self.assertRegex(self.read("key_averages.txt"),
                         f"Number of samples: {samples}\n")
        sampled_ns = sum(f["self_cpu_time_ns"]
                         for f in summary["sampled_functions"])
        self.assertEqual(
            sum(int(line.rsplit(" ", 1)[1])
                for line in self.read("stacks.folded").splitlines()),
            sampled_ns)
        self.assertIn("target;outer;inner ",
                      self.read("stacks.ranges.folded"))
        self.assertGreater(
            os.path.getsize(os.path.join(self.out, "stacks.pb.gz")), 100)

    def test_a_long_recording_has_sums_of_all_and_the_newest_part(self):
        # 30.5 MiB of records: more than three quarters of half of the disk, and
        # less than this half, however slowly the command adds up. The other
        # half is for the arena.
        count = 1_000_000
        says = " ".join(self.profile(count, "--cpu_max_memory=40MiB",
                                     "--cpu_max_disk=80MiB",
                                     "--max_size=0").split())
        self.assertIn(f"have all {count + 1} events", says)
        older = int(re.search(r"without (\d+) older events", says)[1])
        # The trace of 16 MiB takes 40 MiB.
        self.assertLessEqual(count - older, 16 * 2**20 // 32)
        self.assertGreater(count - older, 4 * 2**20 // 32)
        self.expect_all_of_it(count)
        events = json.loads(self.read("trace.json"))["traceEvents"]
        names = [e["name"] for e in events if e["ph"] == "X"]
        self.assertEqual(names.count("inner"), count - older)
        self.assertEqual(names.count("outer"), 1)

    def test_what_is_kept_has_all_of_it(self):
        count = 500_000
        self.profile(count, "--cpu_max_memory=20MiB", "--export=")
        for windows in ("always", "never"):
            table = subprocess.run(
                [REPORT, f"--raw_windows={windows}", f"{self.out}/kymo.raw"],
                capture_output=True, check=True, encoding="utf-8").stdout
            self.assertIn(f" {count} ", table)

    def test_a_raw_file_that_was_asked_for_is_the_one(self):
        says = self.profile(500_000, "--cpu_max_memory=20MiB", "--cpu_keep_raw")
        self.assertIn("kymo.raw: `kymo report` reads it", says)
        self.expect_all_of_it(500_000)

    def test_what_fits_is_a_trace(self):
        says = self.profile(500_000, "--cpu_max_memory=1GiB", "--export=")
        self.assertNotIn("may be taken", says)
        self.assertFalse(os.path.exists(f"{self.out}/kymo.raw"))

    def test_a_missing_timeline_fails_strict(self):
        says = self.profile(
            500_000, "--cpu_max_memory=20MiB", "--strict", status=3)
        self.assertIn("status 3, because the recording is larger than memory\n",
                      says)

    def test_another_word_for_memory_is_refused(self):
        says = self.profile(1, "--cpu_max_memory=much", status=2)
        self.assertIn("from 1MiB to 1024GiB", says)

    @unittest.skipIf(MANY == 0, "takes a minute: //...:memory_limit_large_test")
    def test_address_space_is_limited(self):
        limit = 1 << 30

        def limit_memory():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        says = self.profile(MANY, preexec_fn=limit_memory)
        self.assertIn("that may be taken", says)
        self.expect_all_of_it(MANY)


if __name__ == "__main__":
    unittest.main()
