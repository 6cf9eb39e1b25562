"""//tools:report on traces of real GPU jobs, held against the files' own JSON.

What is expected is computed here from the events as they stand in the file, in
decimal numbers, and with nothing of Kymo's.
"""

import collections
import gzip
import json
import os
import pathlib
import subprocess
import unittest
from decimal import Decimal

REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
TESTDATA = pathlib.Path("tests/e2e/testdata").resolve()

CALLS = ("cuda_runtime", "cuda_driver")
DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
NO_OPERATION = "(no operation)"
LAUNCH_GAP_US = 30


def ns(us):
    return int(us * 1000)


def end(event):
    return event["ts"] + event["dur"]


class Trace:
    """The events of a file that matter here."""

    def __init__(self, path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            events = json.load(file, parse_float=Decimal)["traceEvents"]
        ranges = [event for event in events if event["ph"] == "X"]
        self.operations = self.by_category(ranges, ("cpu_op",))
        self.work = self.by_category(ranges, DEVICE_WORK)
        self.calls = {
            event["args"]["correlation"]: event
            for event in self.by_category(ranges, CALLS)
            if "correlation" in event["args"]
        }

    @staticmethod
    def by_category(ranges, categories):
        return [event for event in ranges if event.get("cat") in categories]

    def call_of(self, work):
        return self.calls.get(work["args"]["correlation"])

    def operations_of_calls(self):
        """By correlation id, the innermost operation around the call."""
        threads = collections.defaultdict(list)
        for kind, events in ((0, self.operations), (1, self.calls.values())):
            for event in events:
                threads[event["pid"], event["tid"]].append(
                    (event["ts"], -event["dur"], kind, event))
        found = {}
        for events in threads.values():
            around = []
            for _, _, kind, event in sorted(events, key=lambda e: e[:3]):
                while around and end(around[-1]) < end(event):
                    around.pop()
                if kind == 0:
                    around.append(event)
                elif around:
                    found[event["args"]["correlation"]] = around[-1]["name"]
        return found

    def streams(self):
        """Work by (device, stream), in order of time."""
        streams = collections.defaultdict(list)
        for event in sorted(self.work, key=lambda e: e["ts"]):
            args = event["args"]
            streams[args["device"], args["stream"]].append(event)
        return streams


def summed(pairs):
    """{key: (sum of ns, how many)} of (key, us)."""
    sums = collections.defaultdict(lambda: [0, 0])
    for key, us in pairs:
        sums[key][0] += ns(us)
        sums[key][1] += 1
    return {key: tuple(pair) for key, pair in sums.items()}


class GpuReport:
    """One file: what the test reads in it, and what the command says."""

    def __init__(self, name):
        self.path = str(TESTDATA / f"{name}.json.gz")
        self.trace = Trace(self.path)

    def run(self, *words):
        completed = subprocess.run(
            [REPORT, "--quiet", "--format=json", *words, self.path],
            capture_output=True, timeout=120, check=False, encoding="utf-8")
        # 3: --check found something.
        if completed.returncode not in (0, 3):
            raise AssertionError(completed.stderr)
        return json.loads(completed.stdout)

    def analysis(self, name):
        return self.run(f"--analysis={name}", "--row_limit=-1")[name]

    def findings(self):
        return {finding["rule"]: finding["count"]
                for finding in self.run("--check")["findings"]}


class GpuReportTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.files = [GpuReport(name) for name in (
            "recommender_rank0", "recommender_rank1", "resnet_part")]

    def for_each_file(self):
        for file in self.files:
            with self.subTest(file=os.path.basename(file.path)):
                yield file

    def test_every_kernel_has_its_call_or_is_counted(self):
        unlinked = []
        for file in self.for_each_file():
            alone = [event for event in file.trace.work
                     if file.trace.call_of(event) is None]
            self.assertEqual(file.findings().get("launch_missing", 0),
                             len(alone))
            unlinked.append(len(alone))
            queued = sum(row["launches"]
                         for row in file.analysis("device_queue"))
            self.assertEqual(queued, len(file.trace.work) - len(alone))
        self.assertEqual(unlinked, [0, 0, 1])

    def test_every_call_has_its_operation_or_is_counted(self):
        for file in self.for_each_file():
            operations = file.trace.operations_of_calls()
            expected = summed(
                ((operations.get(event["args"]["correlation"], NO_OPERATION),
                  event["name"]), event["dur"])
                for event in file.trace.work)
            rows = file.analysis("device_operation_kernels")
            self.assertEqual(
                {(row["operation"], row["kernel"]):
                 (row["total_ns"], row["count"]) for row in rows}, expected)
            launching = {event["args"]["correlation"]
                         for event in file.trace.work} & file.trace.calls.keys()
            self.assertEqual(file.findings().get("operation_missing", 0),
                             len(launching - operations.keys()))

    def test_times_of_kernels_add_up(self):
        for file in self.for_each_file():
            expected = summed((event["name"], event["dur"])
                              for event in file.trace.work)
            rows = file.analysis("device_kernels")
            self.assertEqual({row["name"]: (row["total_ns"], row["count"])
                              for row in rows}, expected)
            table = file.run("--category=kernel,gpu_memcpy,gpu_memset",
                             "--row_limit=-1")["rows"]
            self.assertEqual(
                {row["name"]: (round(row["self_device_time_total_us"] * 1000),
                               row["count"]) for row in table}, expected)

    def test_idle_times_of_streams(self):
        for file in self.for_each_file():
            rows = {(row["device"], int(row["stream"])): row
                    for row in file.analysis("device_idle")
                    if row["stream"] != "all"}
            streams = file.trace.streams()
            self.assertEqual(rows.keys(), streams.keys())
            for stream, events in streams.items():
                row = rows[stream]
                gaps = summed(self.gaps(file.trace, events))
                for cause in ("host", "launch", "dependency"):
                    self.assertEqual(
                        (row[f"{cause}_ns"], row[f"{cause}_count"]),
                        gaps.get(cause, (0, 0)), f"{stream}: {cause}")

    @staticmethod
    def gaps(trace, events):
        """(cause, us) of each gap; work of these streams never overlaps."""
        for before, after in zip(events, events[1:]):
            gap = after["ts"] - end(before)
            call = trace.call_of(after)
            if gap == 0 and (call is None or call["ts"] <= end(before)):
                continue
            if call is not None and call["ts"] > end(before):
                yield "host", gap
            elif gap < LAUNCH_GAP_US:
                yield "launch", gap
            else:
                yield "dependency", gap

    def test_ranks_of_a_job_are_merged(self):
        ranks = self.files[:2]
        merged = ranks[0].run("--category=kernel", "--row_limit=-1",
                              ranks[1].path)["rows"]
        expected = summed((event["name"], event["dur"])
                          for rank in ranks for event in rank.trace.work
                          if event["cat"] == "kernel")
        self.assertEqual(
            {row["name"]: (round(row["self_device_time_total_us"] * 1000),
                           row["count"]) for row in merged}, expected)


if __name__ == "__main__":
    unittest.main()
