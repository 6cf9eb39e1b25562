"""HolisticTraceAnalysis on Kymo's Chrome traces."""

import os
import pathlib
import shutil
import tempfile
import unittest
import warnings

# Else it rounds times to whole microseconds.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

from hta.trace_analysis import TraceAnalysis
from hta.utils.validate_trace import validate_trace_format

from tests.e2e.consumers import recorded

US = 1000
COMPUTE_STREAM = 7
COMMUNICATION_STREAM = 13
RANK = 3


def setUpModule():
    # Of its own use of pandas.
    warnings.simplefilter("ignore", FutureWarning)


def analyse(trace):
    """The analysis of a folder that holds this trace."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(trace, folder)
        return TraceAnalysis(trace_dir=folder, include_last_profiler_step=True)


def union_us(spans):
    """What spans of (begin, end) cover together."""
    covered, reached = 0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return covered


class CpuTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.recorded = recorded.record(pathlib.Path(scratch.name) / "out",
                                       "--export=chrome", "--record_shapes",
                                       with_libraries=True)
        cls.trace = str(cls.recorded.path("trace.json"))
        cls.analysis = analyse(cls.trace)

    def test_finds_nothing_wrong_with_the_file(self):
        for level in ("minimal", "standard", "complete"):
            self.assertEqual(validate_trace_format(self.trace, level=level),
                             (True, {}))

    def test_steps(self):
        self.assertEqual(list(self.analysis.get_profiler_steps()),
                         list(range(self.recorded.step_count)))

    def test_operations(self):
        trace = self.analysis.t
        frame = trace.get_trace(0)
        names = trace.symbol_table.get_sym_table()
        groups = frame.groupby("name")["dur"]
        # Durations are the file's, to the nanosecond; so are their sums.
        seen = {names[name]: (len(durations), round(durations.sum() * US))
                for name, durations in groups}
        expected = {name: (row["count"], row["cpu_time_total_ns"])
                    for name, row in self.recorded.operations.items()}
        self.assertEqual({name: seen.get(name) for name in expected}, expected)


class GpuTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.recorded = recorded.write_gpu_trace(
            pathlib.Path(scratch.name) / "out", "chrome")
        cls.analysis = analyse(cls.recorded.path("trace.json"))
        cls.kernels = [event for event in cls.recorded.events()
                       if event.get("cat") in
                       ("kernel", "gpu_memcpy", "gpu_memset")]

    def spans(self, *categories):
        return [(event["ts"], event["ts"] + event["dur"])
                for event in self.kernels if self.kind(event) in categories]

    @staticmethod
    def kind(event):
        if event["cat"] != "kernel":
            return "memory"
        return "communication" if event["name"].startswith("nccl") else "compute"

    def test_rank(self):
        self.assertEqual(list(self.analysis.t.get_ranks()), [RANK])

    def test_temporal_breakdown(self):
        row = self.analysis.get_temporal_breakdown(visualize=False).iloc[0]
        everything = self.spans("compute", "communication", "memory")
        window = (max(end for _, end in everything) -
                  min(begin for begin, _ in everything))
        busy = union_us(everything)
        compute = union_us(self.spans("compute"))
        self.assertEqual(row["kernel_time(us)"], window)
        self.assertEqual(row["idle_time(us)"], window - busy)
        self.assertEqual(row["compute_time(us)"], compute)
        self.assertEqual(row["non_compute_time(us)"], busy - compute)

    def test_kernel_breakdown(self):
        _, kernels = self.analysis.get_gpu_kernel_breakdown(visualize=False)
        seen = {row["name"]: row["sum (us)"] * US
                for _, row in kernels.iterrows()}
        self.assertEqual(seen, {
            name: row["device_time_total_ns"]
            for name, row in self.recorded.device_activities.items()
        })
        kinds = {row["name"]: row["kernel_type"]
                 for _, row in kernels.iterrows()}
        self.assertEqual(kinds["sgemm_128x64_nn"], "COMPUTATION")
        self.assertEqual(kinds["Memset (Device)"], "MEMORY")

    def test_queue_length(self):
        series = self.analysis.get_queue_length_time_series([RANK])[RANK]
        for stream in (COMPUTE_STREAM, COMMUNICATION_STREAM):
            of_stream = series[series["stream"] == stream]
            expected = self.queue_lengths(stream)
            self.assertEqual(
                list(zip(of_stream["ts"], of_stream["queue_length"])), expected)
        summary = self.analysis.get_queue_length_summary([RANK])
        longest = max(n for _, n in self.queue_lengths(COMPUTE_STREAM))
        self.assertGreater(longest, 1, "nothing had to wait")
        self.assertEqual(
            summary.loc[(RANK, COMPUTE_STREAM)]["queue_length"]["max"], longest)

    def queue_lengths(self, stream):
        """(time, length) at each call that launches and each beginning."""
        calls = {event["args"]["correlation"]: event["ts"]
                 for event in self.recorded.events()
                 if event.get("cat") == "cuda_runtime" and
                 "correlation" in event.get("args", {})}
        changes = []
        for event in self.kernels:
            if event["args"]["stream"] == stream:
                changes.append((calls[event["args"]["correlation"]], 1))
                changes.append((event["ts"], -1))
        lengths, length = [], 0
        first = min(event["ts"] for event in self.recorded.events()
                    if event.get("cat") == "cpu_op")
        for time, change in sorted(changes, key=lambda c: (c[0], -c[1])):
            length += change
            lengths.append((time - first, length))
        return lengths

    def test_launches(self):
        stats = self.analysis.get_cuda_kernel_launch_stats(
            ranks=[RANK], visualize=False,
            include_memory_events=True)[RANK]
        self.assertEqual(len(stats), len(self.kernels))
        self.assertEqual(sum(stats["gpu_duration"]),
                         sum(event["dur"] for event in self.kernels))

    def test_memory_bandwidth(self):
        summary = self.analysis.get_memory_bw_summary([RANK])
        copies = summary.loc[(RANK, "Memcpy HtoD")]["memory_bw_gbps"]
        self.assertEqual(copies["count"], self.recorded.step_count)
        self.assertAlmostEqual(copies["max"], 2**20 / 50_000, places=9)


if __name__ == "__main__":
    unittest.main()
