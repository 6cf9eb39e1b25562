"""XProf's tools on Kymo's XSpace, over TensorBoard's HTTP."""

import collections
import json
import unittest

from tests.e2e.consumers import recorded
from tests.e2e.consumers.boards import BoardTestCase
from tests.e2e.consumers.boards import NS_PER_MS
from tests.e2e.consumers.boards import table_rows

US = 1000


def tool_name(name):
    """XProf takes `::` for a scope, and `:` for what ends a name."""
    return name.replace("::", "/").replace(":", "_")


class XprofTestCase(BoardTestCase):

    def ask(self, what, **parameters):
        return self.board.json(f"/data/plugin/profile/{what}", **parameters)

    def run_name(self):
        (run,) = self.ask("runs")
        return run

    def tools(self):
        return set(self.ask("run_tools", run=self.run_name()))

    def data(self, tool):
        run = self.run_name()
        (host,) = self.ask("hosts", run=run, tag=tool)
        return self.ask("data", run=run, tag=tool, host=host["hostname"])

    def operations(self, where):
        """Rows of the framework operator statistics, without idle time."""
        _, without_idle = self.data("framework_op_stats")
        return {row["operation"]: row for row in table_rows(without_idle)
                if row["host_or_device"] == where}

    def slices(self):
        """Names of the trace viewer's slices, and how often they come."""
        return collections.Counter(
            event["name"] for event in self.data("trace_viewer@")["traceEvents"]
            if event.get("ph") == "X")


class CpuTest(XprofTestCase):

    def test_every_tool_answers(self):
        self.assertLessEqual(
            {"overview_page", "trace_viewer@", "framework_op_stats",
             "memory_profile", "input_pipeline_analyzer"}, self.tools())
        for tool in self.tools():
            with self.subTest(tool):
                self.assertTrue(self.data(tool))

    def test_trace_viewer(self):
        expected = {name: row["count"]
                    for name, row in self.recorded.rows.items()
                    if name != recorded.STEPS}
        expected["epoch_end"] = recorded.EPOCHS
        for step in self.step_times_ns():
            expected[f"ProfilerStep {step}"] = 1
        self.assertEqual(self.slices(), expected)

    def test_operators(self):
        rows = self.operations("Host")
        operations = self.recorded.operations
        self.assertEqual(set(rows), {tool_name(name) for name in operations})
        for name, row in operations.items():
            seen = rows[tool_name(name)]
            self.assertEqual(seen["occurrences"], row["count"], name)
            self.assertEqual(round(seen["total_time"] * US),
                             row["cpu_time_total_ns"], name)
            self.assertEqual(round(seen["total_self_time"] * US),
                             row["self_cpu_time_total_ns"], name)

    def test_steps(self):
        rows = table_rows(self.data("overview_page")[1])
        times = self.step_times_ns()
        # XProf takes the first and the last step of a program without a
        # device for incomplete.
        whole = sorted(times)[1:-1]
        self.assertEqual(
            {row["stepnum"]: round(row["stepTimeMs"] * NS_PER_MS)
             for row in rows},
            {f"ProfilerStep {step}": times[step] for step in whole})
        self.assertEqual(len(rows), self.recorded.step_count - 2)

    def test_memory(self):
        profile = self.data("memory_profile")
        self.assertEqual(profile["memoryIds"], ["heap"])
        heap = profile["memoryProfilePerAllocator"]["heap"]
        peak = str(self.recorded.heap_peak_bytes)
        self.assertEqual(heap["profileSummary"]["peakBytesUsageLifetime"], peak)
        self.assertEqual(
            heap["profileSummary"]["peakStats"]["heapAllocatedBytes"], peak)
        ranges = {snapshot["activityMetadata"]["regionType"]
                  for snapshot in heap["memoryProfileSnapshots"]}
        self.assertTrue(ranges)
        self.assertLessEqual(ranges, {"", *self.recorded.rows})
        self.assertTrue(heap["activeAllocations"])


class GpuTest(XprofTestCase):

    @classmethod
    def write(cls, folder):
        return cls.write_gpu(folder)

    def test_every_tool_answers(self):
        self.assertLessEqual({"overview_page", "trace_viewer@", "kernel_stats",
                              "framework_op_stats"}, self.tools())
        for tool in self.tools():
            with self.subTest(tool):
                self.assertTrue(self.data(tool))

    def test_kernels(self):
        rows = {row["kernel_name"]: row
                for row in table_rows(self.data("kernel_stats"))}
        kernels = {
            name: row for name, row in self.recorded.device_activities.items()
            if not name.startswith("Mem")
        }
        self.assertEqual(set(rows), set(kernels))
        for name, row in kernels.items():
            self.assertEqual(rows[name]["occurrences"], row["count"])
            self.assertEqual(round(rows[name]["total_duration_us"] * US),
                             row["device_time_total_ns"])
            self.assertEqual(rows[name]["grid_dim"], "54,2,1")
            self.assertEqual(rows[name]["block_dim"], "128,1,1")
            self.assertEqual(rows[name]["registers_per_thread"], 32)
            self.assertEqual(rows[name]["shmem_bytes"], 4096)
            self.assertEqual(rows[name]["occupancy_pct"], 25)
        self.assertEqual(rows["sgemm_128x64_nn"]["op_name"], "aten/mm")

    def test_operators_on_the_device(self):
        device = self.recorded.device_activities
        rows = self.operations("Device")
        for operation, activity in (
            ("aten::mm", "sgemm_128x64_nn"),
            ("aten::copy_", "Memcpy HtoD (Pageable -> Device)"),
            ("aten::zero_", "Memset (Device)")):
            row = rows[tool_name(operation)]
            self.assertEqual(row["occurrences"], device[activity]["count"])
            self.assertEqual(round(row["total_self_time"] * US),
                             device[activity]["self_device_time_total_ns"])

    def test_steps(self):
        rows = table_rows(self.data("overview_page")[1])
        self.assertEqual(len(rows), self.recorded.step_count)

    def test_losses_are_a_warning(self):
        self.assertIn("samples_lost: 7", json.dumps(self.data("overview_page")))

    def test_properties_of_the_device(self):
        roofline = self.data("roofline_model")[0]["p"]
        self.assertEqual(roofline["device_type"], "Nvidia GPU (Ampere)")
        # 108 SMs of 1.41 GHz, each 2048 half-precision FLOPs a cycle.
        self.assertAlmostEqual(float(roofline["peak_flop_rate"]),
                               108 * 1.41 * 2048, delta=1)
        # In GiB/s.
        self.assertAlmostEqual(float(roofline["peak_hbm_bw"]),
                               1555e9 / 2**30, delta=0.01)


if __name__ == "__main__":
    unittest.main()
