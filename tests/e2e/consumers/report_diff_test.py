"""report.html of two traces: what got slower, faster, new, gone."""

import json
import subprocess
import unittest

from selenium.webdriver.common.keys import Keys

from tests.e2e.consumers.page_case import REPORT
from tests.e2e.consumers.page_case import WrittenCase
from tests.e2e.consumers.page_case import ranged

HOSTILE = "</script><img src=x onerror=alert(1)>"


class DiffPageTest(WrittenCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder.mkdir(parents=True)
        traces = {
            "before.json": [ranged("main", 0, 100), ranged("slow", 0, 10),
                            ranged("fast", 10, 30), ranged("gone", 50, 5),
                            ranged("same", 60, 7), ranged("same", 70, 7)],
            "after.json": [ranged("main", 0, 120), ranged("slow", 0, 40),
                           ranged("fast", 40, 10), ranged(HOSTILE, 50, 6),
                           ranged("same", 60, 7), ranged("same", 70, 7)],
        }
        for name, events in traces.items():
            (cls.folder / name).write_text(json.dumps({"traceEvents": events}))
        cls.printed = subprocess.run(
            [REPORT, "--diff", "--export=html", f"--output_dir={cls.folder}",
             *(str(cls.folder / name) for name in traces)],
            timeout=60, check=True, capture_output=True, text=True).stdout

    def test_the_table_has_the_changes(self):
        self.assertIn("2 slower, 1 faster, 1 new, 1 gone, 1 same",
                      self.printed)
        self.open()
        self.assertTrue(self.find("#view-diff").is_displayed())
        rows = self.table("#changed-operations")
        self.assertEqual(rows[:2], [
            ["slow", "slower", 10_000, 40_000, 30_000, 1, 1, "CPU"],
            ["fast", "faster", 30_000, 10_000, -20_000, 1, 1, "CPU"]])
        self.assertEqual(sorted(rows[2:]), [
            [HOSTILE, "new", 0, 6_000, 6_000, 0, 1, "CPU"],
            ["gone", "gone", 5_000, 0, -5_000, 1, 0, "CPU"],
            ["main", "slower", 41_000, 50_000, 9_000, 1, 1, "CPU"],
            ["same", "same", 14_000, 14_000, 0, 2, 2, "CPU"]])
        self.browser.keep("report_diff")

    def test_flame_graphs_are_coloured_by_the_change(self):
        self.open()
        self.wait_for_colours("#diff-graph-canvas", 0.1)
        canvas = self.find("#diff-graph-canvas")
        canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertRegex(self.text("#diff-graph .status"),
                         r"^slow  ·  40.0 µs .* before 10.0 µs")
        self.choose("#diff-graph", "Ranges: before")
        self.find("#diff-graph input").send_keys("gone")
        self.wait_for_text("#diff-graph .status", "found 5.0 %")
        colours = self.page.execute_script("""
            const canvas = document.querySelector("#diff-graph-canvas");
            const context = canvas.getContext("2d");
            document.querySelector("#diff-graph input").value = "";
            document.querySelector("#diff-graph input")
              .dispatchEvent(new Event("input"));
            return [...context.getImageData(canvas.width * 0.2,
              2 * 18 + 3, 1, 1).data];""")
        red, _, blue, _ = colours
        self.assertGreater(blue, red + 20)  # fast is the widest but main

    def compare(self, before, after):
        """The folder of the page that compares these files."""
        folder = self.folder / self.id()
        folder.mkdir()
        traces = [folder / "before.json", folder / "after.json"]
        for trace, content in zip(traces, (before, after)):
            trace.write_text(json.dumps(content))
        subprocess.run([REPORT, "--diff", "--export=html",
                        f"--output_dir={folder}", *map(str, traces)],
                       timeout=60, check=True, stdout=subprocess.DEVNULL)
        return folder

    def test_the_peak_is_that_of_the_largest_process(self):
        def allocation(pid, mib):
            return {"ph": "i", "s": "t", "name": "[memory]", "ts": 5,
                    "cat": "cpu_instant_event", "pid": pid, "tid": pid,
                    "args": {"Addr": 16, "Bytes": mib << 20,
                             "Total Allocated": mib << 20, "Device Type": 0,
                             "Device Id": -1}}

        folder = self.compare(*(
            {"traceEvents": [ranged("a", 0, 10), allocation(2, 1),
                             allocation(3, mib)]} for mib in (20, 30)))
        self.open(folder=folder)
        self.assertEqual(self.fact("Peak of reported memory"), 30 << 20)

    def test_functions_of_one_name_are_compared_as_one(self):
        self.open(folder=self.compare(*(
            {"traceEvents": [], "kymo_records_0": {
                "sampling_period_ns": 1_000_000,
                "names": ["run", "liba.so", "libb.so"],
                "frames": [[1, 0, 2, 0, 0, 0], [1, 0, 3, 0, 0, 0]],
                "stacks": [[0, 0], [0, 1]], "rows": [[1, 1]],
                "samples": [[0, 1000, 1_000_000, 1], [0, 2000, run_ns, 2]]}}
            for run_ns in (3_000_000, 5_000_000))))
        self.wait_for_colours("#diff-graph-canvas", 0.1)
        self.find("#diff-graph-canvas").send_keys(Keys.ARROW_DOWN)
        self.assertRegex(self.text("#diff-graph .status"),
                         r"^run  ·  6.00 ms  ·  100.0 % .* before 4.00 ms")

    def test_the_other_views_are_of_the_later_trace(self):
        self.open("#v=operations")
        self.assertIn("slow", [row[0] for row in self.table("#operations")])
        self.assertNotIn("gone", [row[0] for row in self.table("#operations")])

    def test_a_narrow_window_has_no_sideways_scroll(self):
        self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 400, "height": 800, "deviceScaleFactor": 1,
            "mobile": False})
        try:
            self.open()
            self.assertEqual(self.page.execute_script(
                "return document.documentElement.scrollWidth"), 400)
        finally:
            self.page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride",
                                      {})


if __name__ == "__main__":
    unittest.main()
