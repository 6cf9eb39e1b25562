"""forward_backward learns, and its backward operations find their forward ones."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

EXAMPLE = os.path.abspath(os.environ["KYMO_EXAMPLE"])
STEPS = 10


class ForwardBackwardTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            trace = pathlib.Path(directory) / "trace.json"
            cls.output = subprocess.run(
                [EXAMPLE, trace], check=True, capture_output=True, text=True).stdout
            cls.events = json.loads(trace.read_text())["traceEvents"]

    def test_the_loss_falls(self):
        first, last = map(float, re.findall(r"^loss (\S+)$", self.output, re.M))
        self.assertLess(last, first)

    def test_the_table_has_both_passes(self):
        counts = dict(re.findall(r"^ +(\S+) .* (\d+)  $", self.output, re.M))
        for name, count in {
                "aten::matmul": 2 * STEPS, "aten::mm": 5 * STEPS,
                "aten::relu": STEPS, "aten::mse_loss": STEPS,
                "MmBackward0": 2 * STEPS, "ReluBackward0": STEPS,
                "MseLossBackward0": STEPS, "Optimizer.step#SGD.step": STEPS,
        }.items():
            self.assertEqual(counts.get(name), str(count), name)

    def test_backward_operations_are_linked_across_threads(self):
        links = collections.Counter()
        for backward, thread, forward, forward_thread in re.findall(
                r"^(\S+) on thread (\d+) is of (\S+) on thread (\d+), sequence number \d+$",
                self.output, re.M):
            self.assertNotEqual(thread, forward_thread)
            links[backward, forward] += 1
        self.assertEqual(links, {("MmBackward0", "aten::matmul"): 2 * STEPS,
                                 ("ReluBackward0", "aten::relu"): STEPS,
                                 ("MseLossBackward0", "aten::mse_loss"): STEPS})

    def test_the_timeline_has_the_backward_threads(self):
        threads = {event["tid"] for event in self.events if event["name"] == "MmBackward0"}
        self.assertEqual(len(threads), STEPS)


if __name__ == "__main__":
    unittest.main()
