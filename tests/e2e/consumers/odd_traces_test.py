"""Traces that no program would leave, under the readers of every format.

Whatever the trace, each reader takes the file, and finds in it all ranges: as
often, for as long, and under their names.
"""

import collections
import glob
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto import config_pb2
from tensorboard.compat.proto import graph_pb2
from xprof.convert import raw_to_tool_data

from tests.e2e.consumers import pftrace
from tests.e2e.consumers import recorded
from tests.e2e.consumers import strict_json

WRITER = os.path.abspath(os.environ.get("KYMO_ODD_WRITER", ""))
EXPORTERS = ("summary", "chrome", "perfetto", "stacks", "tensorboard",
             "memory_timeline")
SEEDS = ("1", "2", "3")


class OddTestCase:
    """For a class with `KIND`, what odd_trace_writer takes."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        subprocess.run([WRITER, cls.KIND, cls.scratch / "out", *EXPORTERS],
                       timeout=120, check=True)
        cls.recorded = recorded.Recorded(cls.scratch / "out")

    def assert_ranges(self, ranges):
        """`ranges`: (name, ns) of each."""
        seen = collections.defaultdict(lambda: [0, 0])
        for name, ns in ranges:
            seen[name][0] += 1
            seen[name][1] += ns
        expected = strict_json.load(self.recorded.path("ranges.json"))
        self.assertEqual(set(seen), set(expected))
        for name, sums in expected.items():
            self.assertEqual(seen[name], sums, name[:100])

    def test_every_json_is_strict(self):
        paths = [path for path in self.recorded.folder.rglob("*")
                 if path.name.endswith((".json", ".json.gz"))]
        self.assertGreaterEqual(len(paths), 5)
        for path in paths:
            strict_json.load(path)

    def test_chrome(self):
        events = self.recorded.events()
        begun = {}
        ranges = []
        for event in events:
            if event["ph"] == "X" and event["cat"] not in ("Trace",
                                                           "cpu_sample"):
                ranges.append((event["name"], round(event["dur"] * 1000)))
            elif event["ph"] == "b":
                begun[event["id"]] = event
            elif event["ph"] == "e":
                begin = begun.pop(event["id"])
                ranges.append((begin["name"],
                               round((event["ts"] - begin["ts"]) * 1000)))
        self.assertEqual(begun, {})
        self.assert_ranges(ranges)

    def test_perfetto(self):
        trace = pftrace.Pftrace(self.recorded.path("trace.pftrace"))
        self.assert_ranges([(event.name, event.end_ns - event.start_ns)
                            for event in trace.slices
                            if event.category not in ("", "cpu_sample")])

    def test_xprof(self):
        (path,) = glob.glob(glob.escape(str(self.recorded.folder)) +
                            "/tensorboard/plugins/profile/*/*.xplane.pb")
        tools = raw_to_tool_data.xspace_to_tool_names([path])
        self.assertIn("overview_page", tools)
        for tool in tools:
            data, _ = raw_to_tool_data.xspace_to_tool_data([path], tool, {})
            self.assertTrue(data, tool)
        data, _ = raw_to_tool_data.xspace_to_tool_data(
            [path], "trace_viewer", {})
        self.assertIn("traceEvents", json.loads(data))

    def test_tensorboard(self):
        (path,) = (self.recorded.folder / "tensorboard").glob("events.out.*")
        events = list(EventFileLoader(str(path)).Load())
        self.assertTrue(events[0].file_version.startswith("brain.Event:"))
        graphs = [graph_pb2.GraphDef.FromString(event.graph_def)
                  for event in events if event.graph_def]
        self.assertEqual(len(graphs), 1)
        names = {node.name for node in graphs[0].node}
        self.assertEqual(len(names), len(graphs[0].node))
        for event in events:
            if event.HasField("tagged_run_metadata"):
                config_pb2.RunMetadata.FromString(
                    event.tagged_run_metadata.run_metadata)

    def test_pprof(self):
        for path in self.recorded.folder.glob("*.pb.gz"):
            completed = subprocess.run(
                ["go", "tool", "pprof", "-raw", str(path)],
                capture_output=True, timeout=60, check=False,
                env=dict(os.environ, HOME=str(self.scratch),
                         PPROF_TMPDIR=str(self.scratch)))
            self.assertEqual(completed.returncode, 0, completed.stderr)

    def test_speedscope(self):
        profile = strict_json.load(self.recorded.path("stacks.speedscope.json"))
        frames = profile["shared"]["frames"]
        for each in profile["profiles"]:
            if each["type"] == "sampled":
                self.assertEqual(len(each["samples"]), len(each["weights"]))
                for stack in each["samples"]:
                    self.assertLess(max(stack, default=-1), len(frames))
                continue
            open_frames, last = [], each["startValue"]
            for event in each["events"]:
                self.assertGreaterEqual(event["at"], last)
                last = event["at"]
                if event["type"] == "O":
                    self.assertLess(event["frame"], len(frames))
                    open_frames.append(event["frame"])
                else:
                    self.assertEqual(open_frames.pop(), event["frame"])
            self.assertEqual(open_frames, [])
            self.assertLessEqual(last, each["endValue"])

    def test_folded(self):
        for path in self.recorded.folder.glob("*.folded"):
            # Names are bytes of the program's, which may be no UTF-8.
            lines = path.read_bytes().split(b"\n")
            self.assertEqual(lines.pop(), b"")
            self.assertEqual(lines, sorted(set(lines)))
            for line in lines:
                self.assertGreater(int(line.rsplit(b" ", 1)[1]), 0)


class EmptyTest(OddTestCase, unittest.TestCase):
    KIND = "empty"


class FarTest(OddTestCase, unittest.TestCase):
    KIND = "far"


class OddTest(OddTestCase, unittest.TestCase):
    KIND = "odd"

    def test_names_are_whole(self):
        names = set(self.recorded.rows)
        self.assertLessEqual(
            {'say "hello"', "back\\slash", "tab\tline\nbell\a",
             "bad \ufffd\ufffd( UTF-8", "\U0001f98a fox", "semi;colon",
             "</script><b>"}, names)
        (long,) = [name for name in names if len(name) > 60_000]
        self.assertTrue(long.startswith("ns::call<std::pair<int, \"x\">"))
        self.assertTrue(long.endswith("void>(\U0001f98a)"))


def load_tests(loader, tests, _):
    for seed in SEEDS:
        case = type(f"Random{seed}Test", (OddTestCase, unittest.TestCase),
                    {"KIND": seed})
        tests.addTests(loader.loadTestsFromTestCase(case))
    return tests


if __name__ == "__main__":
    unittest.main()
