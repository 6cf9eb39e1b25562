"""Perfetto's traces, decoded with Perfetto's own protocol buffers."""

import collections
import pathlib
import re
import tempfile
import unittest

from tests.e2e.consumers import pftrace
from tests.e2e.consumers import recorded


def row_name(name):
    """The name that the averages file a range under."""
    return re.sub(r"^ProfilerStep#.*", recorded.STEPS, name)


class PerfettoTestCase(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.recorded = cls.write(pathlib.Path(scratch.name) / "out")
        cls.trace = pftrace.Pftrace(cls.recorded.path("trace.pftrace"))

    def assert_averages(self):
        """Counts and times of all ranges, to the nanosecond."""
        counts, times = collections.Counter(), collections.Counter()
        for event in self.trace.slices:
            if event.category:
                counts[row_name(event.name)] += 1
                times[row_name(event.name)] += event.end_ns - event.start_ns
        rows = self.recorded.rows
        self.assertEqual(counts, {n: row["count"] for n, row in rows.items()})
        self.assertEqual(times, {
            name: row["cpu_time_total_ns"] + row["device_time_total_ns"]
            for name, row in rows.items()
        })


class CpuTest(PerfettoTestCase):

    @classmethod
    def write(cls, folder):
        return recorded.record(folder, "--export=perfetto,chrome",
                               "--profile_memory", with_libraries=True)

    def test_ranges(self):
        self.assert_averages()

    def test_ranges_nest_as_they_did(self):
        """Depths by name are those of the same ranges in the Chrome trace."""
        seen = collections.Counter((event.name, event.depth)
                                   for event in self.trace.slices
                                   if event.category)
        tracks = collections.defaultdict(list)
        for event in self.recorded.events():
            if event.get("cat") in ("cpu_op", "user_annotation", "itt_task"):
                begin = round(event["ts"] * 1000)
                tracks[event["tid"]].append(
                    (begin, -begin - round(event["dur"] * 1000), event["name"]))
        expected = collections.Counter()
        for ranges in tracks.values():
            ends = []
            for begin, end, name in sorted(ranges, key=lambda r: r[:2]):
                while ends and ends[-1] <= begin:
                    ends.pop()
                expected[name, len(ends)] += 1
                ends.append(-end)
        self.assertEqual(seen, expected)

    def test_threads(self):
        threads = {track.thread.tid: track.thread.thread_name
                   for track in self.trace.tracks.values()
                   if track.HasField("thread")}
        self.assertEqual(threads, {thread["tid"]: thread["name"]
                                   for thread in self.recorded.summary["threads"]})

    def test_counters(self):
        names = self.trace.track_names()
        values = {names[track]: [value for _, value in samples]
                  for track, samples in self.trace.counters.items()}
        self.assertEqual(max(values["Memory: heap"]),
                         self.recorded.heap_peak_bytes)
        self.assertEqual(len(values["loss"]), self.recorded.step_count)

    def test_instants(self):
        self.assertEqual([event.name for event in self.trace.instants],
                         ["epoch_end"] * recorded.EPOCHS)
        self.assertEqual([event.arguments["epoch"]
                          for event in self.trace.instants],
                         list(range(1, recorded.EPOCHS + 1)))


class HostTest(PerfettoTestCase):

    @classmethod
    def write(cls, folder):
        return recorded.record(folder, "--export=perfetto",
                               "--host_period_ms=20", activities="cpu,host")

    def test_counters_have_the_values_of_the_summary(self):
        names = self.trace.track_names()
        counters = {names[track]: [value for _, value in samples]
                    for track, samples in self.trace.counters.items()}
        summary = self.recorded.summary
        expected = {counter["name"]: counter
                    for counter in summary["counters"]}
        self.assertLessEqual(
            {"machine.cpu.user_percent", "machine.memory.used_bytes",
             "machine.run_queue", "process.cpu.user_percent",
             "process.descriptors", "process.memory.rss_bytes",
             "process.threads"}, expected.keys())
        self.assertLessEqual(expected.keys(), counters.keys())
        for name, counter in expected.items():
            with self.subTest(counter=name):
                values = counters[name]
                self.assertEqual(len(values), counter["samples"])
                self.assertEqual(min(values), counter["min"])
                self.assertEqual(max(values), counter["max"])
                self.assertEqual(values[-1], counter["last"])
        # train_mlp itself says its loss at each step.
        self.assertEqual(expected["loss"]["samples"],
                         self.recorded.step_count)


class SamplesTest(PerfettoTestCase):

    @classmethod
    def write(cls, folder):
        return recorded.record(folder, "--export=perfetto",
                               activities="sampling")

    def test_samples(self):
        self.assertEqual(len(self.trace.samples),
                         self.recorded.summary["totals"]["samples"])
        functions = collections.Counter()
        for _, _, stack in self.trace.samples:
            functions.update(set(stack))
        self.assertGreater(functions["main"], 0)
        self.assertTrue(any("MatMul" in name for name in functions))


class GpuTest(PerfettoTestCase):

    @classmethod
    def write(cls, folder):
        return recorded.write_gpu_trace(folder, "perfetto")

    def test_ranges(self):
        self.assert_averages()

    def test_every_launch_points_at_its_kernel(self):
        calls = {flow: event for event in self.trace.slices
                 for flow in event.flows}
        device = [event for event in self.trace.slices
                  if event.category in ("kernel", "gpu_memcpy", "gpu_memset")]
        self.assertEqual(
            len(device),
            sum(row["count"]
                for row in self.recorded.device_activities.values()))
        for event in device:
            (flow,) = event.ended_flows or event.flows
            call = calls[flow]
            self.assertEqual(call.category, "cuda_runtime")
            self.assertEqual(call.arguments["correlation"],
                             event.arguments["correlation"])
            self.assertLess(call.start_ns, event.start_ns)

    def test_streams(self):
        tracks = {event.track for event in self.trace.slices
                  if event.category == "kernel"}
        names = self.trace.track_names()
        self.assertEqual({names[track] for track in tracks},
                         {"Stream 7", "Stream 13"})


if __name__ == "__main__":
    unittest.main()
