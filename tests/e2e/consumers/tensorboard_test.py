"""TensorBoard's scalars and graphs, and torch-tb-profiler's views, over HTTP."""

import unittest

from google.protobuf import text_format
from tensorboard.compat.proto import config_pb2
from tensorboard.compat.proto import graph_pb2

from tests.e2e.consumers.boards import BoardTestCase
from tests.e2e.consumers.boards import NS_PER_MS
from tests.e2e.consumers.boards import PYTORCH_RUN
from tests.e2e.consumers.boards import WORKER

RUN = "."

# Scalars are floats of 24 bits.
FLOAT_ERROR = 2**-24


class ScalarsTest(BoardTestCase):

    def points(self, tag):
        """Values by step."""
        points = self.board.json("/data/plugin/scalars/scalars", run=RUN,
                                 tag=tag)
        values = {step: value for _, step, value in points}
        self.assertEqual(len(values), len(points), "a step comes twice")
        return values

    def test_runs(self):
        self.assertEqual(self.board.json("/data/runs"), [RUN])

    def test_step_times(self):
        seen = self.points("steps/time_ms")
        expected = self.step_times_ns()
        self.assertEqual(len(seen), self.recorded.step_count)
        self.assertEqual(set(seen), set(expected))
        for step, time_ns in expected.items():
            self.assertAlmostEqual(seen[step] * NS_PER_MS, time_ns,
                                   delta=time_ns * FLOAT_ERROR)

    def test_every_tag_has_points(self):
        tags = self.board.json("/data/plugin/scalars/tags")[RUN]
        for name in self.recorded.operations:
            self.assertIn(f"operator_time_ms/{name}", tags)
        for tag in tags:
            with self.subTest(tag):
                self.assertTrue(self.points(tag))

    def test_memory_of_steps(self):
        seen = self.points("memory/heap_allocated_bytes")
        (pool,) = self.recorded.summary["memory"]["pools"]
        steps = pool["steps"]
        self.assertEqual(set(seen), {step["number"] for step in steps})
        for step in steps:
            size = step["allocated_bytes"]
            self.assertAlmostEqual(seen[step["number"]], size,
                                   delta=size * FLOAT_ERROR)


class GraphTest(BoardTestCase):

    def ask(self, what, **parameters):
        _, body = self.board.get(f"/data/plugin/graphs/{what}", run=RUN,
                                 **parameters)
        return body.decode()

    def graph(self):
        return text_format.Parse(self.ask("graph"), graph_pb2.GraphDef())

    def metadata(self):
        (tag,) = self.board.json("/data/plugin/graphs/info")[RUN]["tags"]
        return text_format.Parse(self.ask("run_metadata", tag=tag),
                                 config_pb2.RunMetadata())

    def test_nodes_are_the_operations(self):
        calls, times = {}, {}
        for node in self.graph().node:
            name = node.attr["name"].s.decode()
            calls[name] = calls.get(name, 0) + node.attr["calls"].i
            times[name] = times.get(name, 0) + node.attr["self_ns"].i
        expected = {name.replace("#", "").rstrip("*"): row
                    for name, row in self.recorded.rows.items()}
        self.assertEqual(calls, {name: row["count"]
                                 for name, row in expected.items()})
        self.assertEqual(times, {name: row["self_cpu_time_total_ns"]
                                 for name, row in expected.items()})

    def test_inputs_are_nodes(self):
        nodes = {node.name: node for node in self.graph().node}
        for node in nodes.values():
            self.assertLessEqual(set(node.input), set(nodes))

    def test_every_node_has_its_time(self):
        times = {stats.node_name: stats.all_end_rel_micros
                 for device in self.metadata().step_stats.dev_stats
                 for stats in device.node_stats}
        nodes = self.graph().node
        self.assertEqual(set(times), {node.name for node in nodes})
        for node in nodes:
            self.assertEqual(times[node.name], node.attr["total_ns"].i // 1000)


class TorchProfilerTest(BoardTestCase):

    def ask(self, what, **parameters):
        return self.board.json(f"/data/plugin/pytorch_profiler/{what}",
                               **parameters)

    def view(self, what):
        (span,) = self.ask("spans", run=PYTORCH_RUN, worker=WORKER)
        return self.ask(what, run=PYTORCH_RUN, worker=WORKER, span=span,
                        group_by="Operation")

    def setUp(self):
        runs = self.board.wait_json(
            "the run", lambda answer: answer["runs"] and not answer["loading"],
            "/data/plugin/pytorch_profiler/runs")
        self.assertEqual(runs["runs"], [PYTORCH_RUN])

    def test_views(self):
        self.assertEqual(self.ask("views", run=PYTORCH_RUN),
                         ["Overview", "Operator", "Trace", "Memory"])
        self.assertEqual(
            self.ask("workers", run=PYTORCH_RUN, view="Overview"), [WORKER])
        for what in ("overview", "operation", "operation/table", "trace",
                     "memory", "memory_curve", "memory_events", "tree"):
            with self.subTest(what):
                self.assertTrue(self.view(what))

    def test_steps(self):
        self.assertEqual(len(self.view("overview")["steps"]["rows"]),
                         self.recorded.step_count)

    def test_operations(self):
        rows = {row["name"]: row for row in self.view("operation/table")["data"]}
        operations = self.recorded.operations
        self.assertEqual({name: row["calls"] for name, row in rows.items()},
                         {name: row["count"]
                          for name, row in operations.items()})

    def test_peak_memory(self):
        curve = self.view("memory_curve")
        unit = curve["metadata"]["memory_factor"]
        peak = max(allocated for _, allocated, _ in curve["rows"]["CPU"])
        self.assertEqual(peak / unit, self.recorded.heap_peak_bytes)


if __name__ == "__main__":
    unittest.main()
