"""Processes, threads and libraries of every kind, under the command."""

import collections
import json
import os
import subprocess
import tempfile
import time
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
SCENARIO = os.path.abspath(os.environ["KYMO_SCENARIO"])
LIBRARIES = " ".join(
    os.path.abspath(path) for path in os.environ["KYMO_LIBRARIES"].split())


class ProcessTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_scenario(self, name, flags=()):
        completed = subprocess.run(
            [PROFILE, "--quiet", "--activities=cpu", "--export=",
             f"--output_dir={self.folder.name}/out", *flags, SCENARIO, name],
            capture_output=True, timeout=60, check=False,
            env=dict(os.environ, KYMO_LIBRARIES=LIBRARIES,
                     KYMO_DAEMON_WAS_HERE=f"{self.folder.name}/daemon"))
        self.assertEqual(completed.returncode, 0, completed.stderr)
        expected = collections.Counter()
        at_least = {}
        open_at_end = 0
        for line in completed.stdout.decode().splitlines():
            of, rest = line.split(" ", 1)
            if of == "open":
                open_at_end = int(rest)
                continue
            range_name, count = rest.split("\t")
            if of == "at_least":
                at_least[range_name] = int(count)
            else:
                expected[range_name] += int(count)
        with open(f"{self.folder.name}/out/summary.json",
                  encoding="utf-8") as file:
            summary = json.load(file)
        return summary, expected, at_least, open_at_end

    def check(self, name):
        summary, expected, at_least, open_at_end = self.run_scenario(name)
        counts = {r["name"]: r["count"] for r in summary["key_averages"]}
        for range_name, count in at_least.items():
            self.assertGreaterEqual(counts.pop(range_name, 0), count)
        for range_name, count in expected.items():
            if count == -1:
                counts[range_name] = -1
        self.assertEqual(counts, dict(expected))
        ledger = {e["name"]: e["count"] for e in summary["ledger"]}
        if at_least:
            # It is in the middle of something when the program ends.
            self.assertLessEqual(ledger["ranges_open_at_end"], 1)
        else:
            self.assertEqual(ledger["ranges_open_at_end"], open_at_end)
        self.assertFalse(summary["anything_lost"], ledger)

    def test_every_scenario(self):
        names = subprocess.run(
            [SCENARIO, "list"], capture_output=True, check=True,
            encoding="utf-8").stdout.split()
        self.assertIn("fork_loop", names)
        for name in names:
            with self.subTest(scenario=name):
                self.check(name)

    def test_daemon_outlives_its_recording_unharmed(self):
        self.run_scenario("daemon")
        for _ in range(1000):
            if os.path.exists(f"{self.folder.name}/daemon"):
                return
            time.sleep(0.01)
        self.fail("the daemon has not come to its end")


if __name__ == "__main__":
    unittest.main()
