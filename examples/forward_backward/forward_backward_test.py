"""forward_backward learns, its backward operations find their forward ones, and
its memory has categories."""

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

EXAMPLE = os.path.abspath(os.environ["KYMO_EXAMPLE"])
STEPS = 10
FLOAT = 4  # bytes
# Of PyTorch's raw memory timeline: [time, action, bytes, category].
PREEXISTING, CREATE, DESTROY = 1, 2, 4
PARAMETER, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD_DETAIL = 0, 2, 3, 4, 5, 6


class ForwardBackwardTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            trace = pathlib.Path(directory) / "trace.json"
            memory = pathlib.Path(directory) / "memory.raw.json.gz"
            cls.output = subprocess.run(
                [EXAMPLE, trace, memory], check=True, capture_output=True, text=True).stdout
            cls.events = json.loads(trace.read_text())["traceEvents"]
            cls.memory = json.loads(gzip.decompress(memory.read_bytes()))

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

    def test_tensors_from_before_the_recording_are_preexisting(self):
        before = [event for event in self.memory if event[1] == PREEXISTING]
        self.assertCountEqual(before, [
            [-1, PREEXISTING, 32 * 128 * FLOAT, PARAMETER],
            [-1, PREEXISTING, 128 * 8 * FLOAT, PARAMETER],
            [-1, PREEXISTING, 64 * 32 * FLOAT, INPUT],
            [-1, PREEXISTING, 64 * 8 * FLOAT, INPUT],
        ])

    def test_memory_has_categories(self):
        created = collections.Counter(
            (size, category) for _, action, size, category in self.memory if action == CREATE)
        # Each step makes new parameters and gradients.
        for category in PARAMETER, GRADIENT:
            self.assertEqual(created[32 * 128 * FLOAT, category], STEPS, category)
            self.assertEqual(created[128 * 8 * FLOAT, category], STEPS, category)
        # The hidden layer before and after relu.
        self.assertEqual(created[64 * 128 * FLOAT, ACTIVATION], 2 * STEPS)
        self.assertGreater(created[64 * 128 * FLOAT, AUTOGRAD_DETAIL], 0)

    def test_all_memory_but_the_last_tensors_is_given_back(self):
        alive = collections.Counter()
        for _, _, size, category in self.memory:
            alive[category] += size
        self.assertEqual(+alive, {
            PARAMETER: (32 * 128 + 128 * 8) * FLOAT,
            INPUT: (64 * 32 + 64 * 8) * FLOAT,
        })


if __name__ == "__main__":
    unittest.main()
