"""Samples that cannot be taken are counted, and --strict fails."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
BURN = os.path.abspath(os.environ["KYMO_BURN"])
STATIC = os.path.abspath(os.environ["KYMO_STATIC"])


def wait_for_file(path, process):
    """False: the process has ended before it was there."""
    deadline = time.monotonic() + 100
    while not os.path.exists(path):
        if process.poll() is not None:
            return False
        if time.monotonic() > deadline:
            raise TimeoutError(path)
        time.sleep(0.01)
    return True


class LostSamplesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "out")

    def start(self, sampler, *words):
        with open(f"{self.out}.says", "wb") as says:
            return subprocess.Popen(
                [PROFILE, "--quiet", "--activities=sampling",
                 f"--sampling_sampler={sampler}", "--strict",
                 "--export=chrome", f"--output_dir={self.out}", *words],
                stderr=says)

    def says(self):
        with open(f"{self.out}.says", encoding="utf-8") as file:
            return file.read()

    def assert_lost(self, process, loss):
        self.assertEqual(process.wait(timeout=120), 3, self.says())
        with open(f"{self.out}/summary.json", encoding="utf-8") as file:
            rows = json.load(file)["ledger"]
        ledger = {e["name"]: e["count"] for e in rows}
        self.assertGreater(ledger[loss], 0, ledger)
        with open(f"{self.out}/trace.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["kymo_loss_ledger"][loss],
                             ledger[loss])
        with open(f"{self.out}/key_averages.txt", encoding="utf-8") as file:
            self.assertIn(f"Lost: {ledger[loss]} {loss} ", file.read())
        return next(e["meaning"] for e in rows if e["name"] == loss)

    def test_collector_that_does_not_keep_up(self):
        begun, ended = self.out + ".begun", self.out + ".ended"
        # About 200 MB of samples, more than there are rings for.
        process = self.start(
            "perf", "--sampling_hz=5000", "--sampling_stack_bytes=65528",
            "sh", "-c", f": > {begun}; {BURN} two; : > {ended}")
        if not wait_for_file(begun, process):
            self.assertIn("perf_event_open", self.says())
            self.skipTest(f"NOT TESTED HERE: {self.says()}")
        process.send_signal(signal.SIGSTOP)
        wait_for_file(ended, process)
        process.send_signal(signal.SIGCONT)
        self.assert_lost(process, "samples_lost")

    def test_child_that_no_timer_reaches(self):
        process = self.start(
            "timer", "sh", "-c", f"{STATIC} two; {BURN} two")
        meaning = self.assert_lost(process, "samples_not_delivered")
        self.assertIn("timers miss static programs", meaning)
        self.assertNotIn("perf events", meaning)


if __name__ == "__main__":
    unittest.main()
