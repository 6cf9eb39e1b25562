"""torch-tb-profiler's own loader on Kymo's Chrome traces.

The plugin finds a trace by its name, WORKER.NUMBER.pt.trace.json, which is what
kymo::TensorboardTraceHandler calls them.
"""

import os
import pathlib
import shutil
import tempfile
import unittest

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
from torch_tb_profiler.profiler.trace import DeviceType

from tests.e2e.consumers import recorded

WORKER = "host_1"
US = 1000

# The plugin adds and subtracts microseconds since the trace's base as doubles,
# whose last bit is this much, and then shows whole microseconds.
DOUBLE_US = 2**-11
SHOWN_US = 0.5

# What the plugin calls a time of an operation, and what Kymo does.
TOTAL = ("host_total_duration", "cpu_time_total_ns")
SELF = ("host_self_duration", "self_cpu_time_total_ns")


def load_view(trace, folder):
    """What the plugin makes of the trace at the path `trace`."""
    path = os.path.join(folder, f"{WORKER}.1.pt.trace.json")
    shutil.copyfile(trace, path)
    data = RunProfileData.parse(WORKER, 1, path, folder)
    return RunGenerator(WORKER, 1, data).generate_run_profile()


def table_rows(table):
    """Rows of a table as dictionaries by column."""
    columns = [column["name"] for column in table["data"]["columns"]]
    return [dict(zip(columns, row)) for row in table["data"]["rows"]]


class LoaderTestCase(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.recorded = cls.write(cls.folder / "out")
        cls.view = load_view(cls.recorded.path("trace.json"), scratch.name)

    def view_names(self):
        return {view.display_name for view in self.view.views}

    def assert_operations(self, *keys):
        """Every operation is there, with its calls and its times `keys`."""
        rows = {row["name"]: row
                for row in self.view.operation_table_by_name["data"]}
        operations = {
            name: row for name, row in self.recorded.operations.items()
            if not name.startswith("cuda")
        }
        self.assertEqual(set(rows), set(operations))
        # A self time is made of the range's time and its children's.
        ranges = self.recorded.summary["totals"]["ranges"]
        delta = SHOWN_US + DOUBLE_US * ranges
        for name, row in operations.items():
            self.assertEqual(rows[name]["calls"], row["count"], name)
            for shown, key in keys:
                self.assertAlmostEqual(rows[name][shown], row[key] / US,
                                       delta=delta, msg=name)


class CpuTest(LoaderTestCase):

    @classmethod
    def write(cls, folder):
        return recorded.record(folder, "--export=chrome", "--profile_memory")

    def test_has_the_views_of_a_run_on_the_cpu(self):
        self.assertEqual(self.view_names(),
                         {"Overview", "Operator", "Trace", "Memory"})

    def test_operations(self):
        self.assert_operations(TOTAL, SELF)

    def test_steps(self):
        rows = self.view.overview["steps"]["rows"]
        self.assertEqual([row[0] for row in rows],
                         [str(i) for i in range(self.recorded.step_count)])
        # After the step's name: times and tooltips by turns.
        total = sum(sum(row[1::2]) for row in rows)
        self.assertAlmostEqual(
            total, self.recorded.rows[recorded.STEPS]["cpu_time_total_ns"] / US,
            delta=DOUBLE_US * self.recorded.summary["totals"]["ranges"])

    def test_memory(self):
        snapshot = self.view.memory_snapshot
        self.assertEqual(snapshot.get_peak_memory(),
                         {(DeviceType.CPU, -1): self.recorded.heap_peak_bytes})
        totals = self.recorded.summary["memory"]["pools"][0]["totals"]
        sizes = [record.bytes for record in snapshot.memory_records]
        self.assertEqual(sum(size > 0 for size in sizes),
                         totals["allocations"])
        self.assertEqual(sum(size < 0 for size in sizes), totals["frees"])
        self.assertEqual(sum(size for size in sizes if size > 0),
                         totals["allocated_bytes"])
        self.assertEqual(sum(sizes), totals["alive_bytes"])


class GpuTest(LoaderTestCase):

    @classmethod
    def write(cls, folder):
        return recorded.write_gpu_trace(folder, "chrome")

    def test_has_the_views_of_a_run_on_a_gpu(self):
        self.assertLessEqual({"Overview", "Operator", "Kernel", "Trace"},
                             self.view_names())

    def test_operations(self):
        # This release knows no cuda_runtime, the category that PyTorch writes:
        # calls of the runtime count as their operation's own time, and kernels
        # as nobody's.
        self.assert_operations(TOTAL)

    def test_steps(self):
        rows = self.view.overview["steps"]["rows"]
        self.assertEqual(len(rows), self.recorded.step_count)

    def test_kernels(self):
        rows = {row["Name"]: row for row in table_rows(self.view.kernel_table)}
        kernels = {
            name: row for name, row in self.recorded.device_activities.items()
            if not name.startswith("Mem")
        }
        self.assertEqual(set(rows), set(kernels))
        for name, row in kernels.items():
            self.assertEqual(rows[name]["Calls"], row["count"])
            self.assertEqual(rows[name]["Total Duration (us)"] * US,
                             row["device_time_total_ns"])
            self.assertEqual(rows[name]["Mean Blocks Per SM"], 1)
            self.assertEqual(rows[name]["Mean Est. Achieved Occupancy (%)"], 25)

    def test_shape_of_a_launch(self):
        rows = {row["Name"]: row
                for row in table_rows(self.view.kernel_op_table)}
        product = rows["sgemm_128x64_nn"]
        self.assertEqual(product["Grid"], "[54, 2, 1]")
        self.assertEqual(product["Block"], "[128, 1, 1]")
        self.assertEqual(product["Register Per Thread"], "32")
        self.assertEqual(product["Shared Memory"], "4096")

    def test_properties_of_the_device(self):
        summary = {row["title"]: row["value"] for row in self.view.gpu_summary}
        self.assertEqual(summary["Name"], "A GPU")
        self.assertEqual(summary["Memory"], "8.0 GB")
        self.assertEqual(summary["Compute Capability"], "8.0")


if __name__ == "__main__":
    unittest.main()
