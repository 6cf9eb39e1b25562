"""//tools:report's analyses beside HolisticTraceAnalysis's, on real traces.

Where the two say different things, the test says what and why.
"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import warnings

# Else it rounds times to whole microseconds.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

from hta.trace_analysis import TraceAnalysis

REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
TESTDATA = pathlib.Path("tests/e2e/testdata").resolve()
US = 1000


def setUpModule():
    # Of its own use of pandas.
    warnings.simplefilter("ignore", FutureWarning)


class HtaReportTest:
    """What both say of one file."""

    name = ""
    # What a time of HTA's can be wrong by, in microseconds.
    tolerance_us = 0

    @classmethod
    def setUpClass(cls):
        path = TESTDATA / f"{cls.name}.json.gz"
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(path, folder)
            cls.hta = TraceAnalysis(trace_dir=folder,
                                    include_last_profiler_step=True)
        [cls.rank] = cls.hta.t.get_ranks()
        out = subprocess.run(
            [REPORT, "--quiet", "--format=json", "--analysis=all",
             "--row_limit=-1", str(path)],
            capture_output=True, timeout=120, check=True).stdout
        cls.report = json.loads(out)
        [cls.device] = cls.report["device_times"]

    def assert_time(self, us, expected_ns):
        self.assertAlmostEqual(us, expected_ns / US,
                               delta=self.tolerance_us + 1e-6)

    def streams(self, analysis):
        return {int(row["stream"]): row for row in self.report[analysis]
                if row["stream"] != "all"}

    def test_temporal_breakdown(self):
        row = self.hta.get_temporal_breakdown(visualize=False).iloc[0]
        device = self.device
        self.assert_time(row["kernel_time(us)"], device["window_ns"])
        self.assert_time(row["idle_time(us)"], device["idle_ns"])
        self.assert_time(row["compute_time(us)"], device["compute_ns"])
        self.assert_time(row["non_compute_time(us)"],
                         device["busy_ns"] - device["compute_ns"])

    def test_overlap_of_communication(self):
        row = self.hta.get_comm_comp_overlap(visualize=False).iloc[0]
        percent = row["comp_comm_overlap_pctg"]
        # Of no communication HTA says NaN, the report null.
        if self.device["overlap_share"] is None:
            self.assertTrue(math.isnan(percent), percent)
            return
        self.assertEqual(percent, round(100 * self.device["overlap_share"], 2))

    def test_kinds_of_kernels(self):
        # HTA cuts time where what runs changes, and says how long each set of
        # kinds ran; each piece of it is rounded down to a microsecond.
        kinds, _ = self.hta.get_gpu_kernel_breakdown(visualize=False)
        pieces = self.device["kernels"] + self.device["copies"]
        for kind, column in (("COMPUTATION", "compute_ns"),
                             ("COMMUNICATION", "communication_ns"),
                             ("MEMORY", "memory_ns")):
            seen = sum(row["sum"] for _, row in kinds.iterrows()
                       if kind in row["kernel_type"].split(" overlapping "))
            expected = self.device[column] / US
            self.assertLessEqual(seen, expected)
            self.assertGreaterEqual(
                seen, expected - (pieces if self.tolerance_us else 0))

    def test_kernels(self):
        _, kernels = self.hta.get_gpu_kernel_breakdown(
            visualize=False, num_kernels=100_000)
        mine = {row["name"]: row for row in self.report["device_kernels"]}
        self.assertEqual(set(kernels["name"]) - {"others"}, mine.keys())
        for _, row in kernels.iterrows():
            kernel = mine[row["name"]]
            for column, ns in (("sum (us)", "total_ns"), ("max (us)", "max_ns"),
                               ("min (us)", "min_ns"), ("mean (us)", "mean_ns")):
                self.assertAlmostEqual(row[column], kernel[ns] / US, places=3)

    def test_idle_times(self):
        rows, _ = self.hta.get_idle_time_breakdown(ranks=[self.rank],
                                                   visualize=False)
        mine = self.streams("device_idle")
        causes = {"host_wait": "host", "kernel_wait": "launch",
                  "other": "dependency"}
        for _, row in rows.iterrows():
            # Which cause a gap has depends on what is longer by less than
            # HTA's error.
            if self.tolerance_us == 0:
                self.assert_time(
                    row["idle_time"],
                    mine[row["stream"]][causes[row["idle_category"]] + "_ns"])
        for number, stream in mine.items():
            total = rows[rows["stream"] == number]["idle_time"].sum()
            self.assert_time(total, stream["idle_ns"])

    def test_queue_lengths(self):
        summary = self.hta.get_queue_length_summary([self.rank])["queue_length"]
        mine = self.streams("device_queue")
        self.assertEqual([stream for _, stream in summary.index],
                         sorted(mine))
        for (_, number), row in summary.iterrows():
            stream = mine[number]
            self.assertEqual(row["max"], stream["max_length"])
            # A call and a start each change it.
            self.assertEqual(row["count"], 2 * stream["launches"])
            self.assertAlmostEqual(row["mean"], stream["mean_length"],
                                   places=9)

    def test_copies(self):
        # HTA's bandwidth is the one that Kineto wrote, of times in
        # nanoseconds; the report's, of the times that the file has.
        summary = self.hta.get_memory_bw_summary([self.rank])["memory_bw_gbps"]
        mine = {row["direction"]: row for row in self.report["device_copies"]}
        self.assertEqual([name for _, name in summary.index], sorted(mine))
        for (_, name), row in summary.iterrows():
            self.assertEqual(row["count"], mine[name]["count"])


class RecommenderRank0Test(HtaReportTest, unittest.TestCase):
    name = "recommender_rank0"


class RecommenderRank1Test(HtaReportTest, unittest.TestCase):
    name = "recommender_rank1"


class ResNetTest(HtaReportTest, unittest.TestCase):
    """Microseconds since 1970 with their nanoseconds.

    HTA keeps them as doubles, whose step is a quarter of a microsecond there.
    """
    name = "resnet_part"
    tolerance_us = 0.5


if __name__ == "__main__":
    unittest.main()
