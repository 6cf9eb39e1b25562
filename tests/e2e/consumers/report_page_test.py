"""report.html in a real browser, from a file:// address.

Long, because all its cases share one browser.
"""

import json
import os
import subprocess
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.e2e.consumers import recorded
from tests.e2e.consumers.page_case import PageCase
from tests.e2e.consumers.page_case import WrittenCase
from tests.e2e.consumers.page_case import change_block
from tests.e2e.consumers.page_case import ranged

ODD_WRITER = os.path.abspath(os.environ.get("KYMO_ODD_WRITER", ""))


class RecordedPageTest(PageCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recorded = recorded.record(cls.folder, "--export=stacks", "--view",
                                       "--profile_memory",
                                       activities="cpu,sampling")
        cls.summary = cls.recorded.summary

    def facts(self):
        return dict(self.page.execute_script("""
            return [...document.querySelectorAll(".fact")].map((fact) => [
              fact.querySelector("dt").textContent,
              Number(fact.querySelector("dd").dataset.value)])"""))

    def test_facts_are_those_of_the_summary(self):
        self.open()
        facts = self.facts()
        self.assertEqual(facts["Wall time"],
                         self.summary["window"]["duration_ns"])
        self.assertEqual(facts["Ranges"], self.summary["totals"]["ranges"])
        self.assertEqual(facts["Samples"], self.summary["totals"]["samples"])
        self.assertEqual(facts["Threads"], len(self.summary["threads"]))
        self.assertEqual(facts["Peak of heap memory"],
                         self.recorded.heap_peak_bytes)
        self.assertIn("train_mlp", self.text(".command"))
        self.browser.keep("report_summary")

    def test_operations_are_those_of_the_summary(self):
        self.open("#v=operations")
        expected = [[row["name"], row["self_cpu_time_total_ns"],
                     row["cpu_time_total_ns"], row["count"], row["min_ns"],
                     row["max_ns"], row["self_cpu_memory_usage_bytes"]]
                    for row in self.summary["key_averages"]]
        self.assertEqual(sorted(self.table("#operations")), sorted(expected))
        self.assertEqual(
            [row[1] for row in self.table("#operations")],
            sorted((row[1] for row in expected), reverse=True))

    def test_tables_sort_and_filter(self):
        self.open("#v=operations")
        self.find("#operations thead th:nth-child(4) button").click()
        calls = [row[3] for row in self.table("#operations")]
        self.assertEqual(calls, sorted(calls, reverse=True))
        self.assertEqual(self.find("#operations thead th:nth-child(4)")
                         .get_attribute("aria-sort"), "descending")
        self.find("#operations thead th:nth-child(4) button").click()
        calls = [row[3] for row in self.table("#operations")]
        self.assertEqual(calls, sorted(calls))
        self.find("#operations .filter").send_keys("relu")
        names = [row[0] for row in self.table("#operations")]
        self.assertEqual(sorted(names), sorted(
            name for name in self.recorded.rows if "relu" in name.lower()))

    def test_functions_are_those_of_the_summary(self):
        self.open("#v=functions")
        expected = [[row["name"], row["self_cpu_time_ns"], row["cpu_time_ns"],
                     row["self_samples"], row["samples"], row["module"]]
                    for row in self.summary["sampled_functions"]]
        shown = self.table("#functions")
        self.assertGreater(len(shown), 0)
        self.assertEqual(len(shown), min(len(expected), 100))
        # Tables cut names that no screen has room for.
        cut = [[row[0][:1000] + "…", *row[1:]] for row in expected]
        for row in shown:
            self.assertIn(row, cut if row[0].endswith("…") else expected)
        self.find("#functions .link").click()
        self.assertRegex(self.text("#graph .status"), r"found [1-9]")

    def test_the_whole_time_has_the_calls_of_the_summary(self):
        self.open("#v=timeline")
        calls = {row[0]: row[3] for row in self.table("#interval-operations")}
        for name, row in self.recorded.operations.items():
            self.assertEqual(calls[name], row["count"], name)
        self.assertEqual(calls[recorded.STEPS], self.recorded.step_count)

    def test_the_timeline_draws_zooms_and_links(self):
        self.open("#v=timeline")
        self.wait_for_colours("#timeline-canvas", 0.05)
        self.browser.keep("report_timeline")
        canvas = self.find("#timeline-canvas")
        canvas.send_keys("ww")
        self.browser.wait("a link", lambda page: "t=" in page.execute_script(
            "return location.hash"))
        before = self.view_of()
        seen = self.text("#timeline-range")
        self.open(before)
        self.browser.wait("the same time", lambda _: self.text(
            "#timeline-range") == seen)
        self.find("#timeline-canvas").send_keys("d")
        self.browser.wait("another link", lambda page: page.execute_script(
            "return location.hash") != before)
        self.find("#timeline-canvas").send_keys("0")
        self.browser.wait("no interval", lambda page: "t=" not in
                          page.execute_script("return location.hash"))

    def test_a_selection_has_its_own_table(self):
        self.open("#v=timeline")
        whole = {row[0]: row[3] for row in self.table("#interval-operations")}
        canvas = self.find("#timeline-canvas")
        canvas.send_keys(Keys.ARROW_RIGHT)  # the first event
        canvas.send_keys("m")
        self.browser.wait("a selection", lambda _: "Selected" in
                          self.text("#interval h2"))
        part = {row[0]: row[3] for row in self.table("#interval-operations")}
        self.assertTrue(part)
        self.assertLess(sum(part.values()), sum(whole.values()))
        canvas.send_keys(Keys.ESCAPE)
        self.browser.wait("no selection", lambda _: "whole" in
                          self.text("#interval h2"))

    def test_dragging_on_the_axis_selects(self):
        self.open("#v=timeline")
        canvas = self.find("#timeline-canvas")
        ActionChains(self.page).move_to_element_with_offset(
            canvas, 0, -canvas.size["height"] // 2 + 8).click_and_hold() \
            .move_by_offset(150, 0).release().perform()
        self.browser.wait("a selection", lambda _: "Selected" in
                          self.text("#interval h2"))

    def test_the_search_finds_and_shows_details(self):
        self.open("#v=timeline")
        name = "mlp::relu"
        field = self.find(".timeline input[type=search]")
        field.send_keys(name)
        self.assertRegex(self.text(".timeline output"), r"^[\d,]+ ranges found$")
        field.send_keys(Keys.ENTER)
        self.browser.wait("details", lambda _: name in self.text(".side h2"))
        self.browser.wait("a link", lambda page: "e=" in page.execute_script(
            "return location.hash"))

    def test_flame_graphs_draw_search_and_zoom(self):
        self.open("#v=flame")
        titles = [option.text for option in
                  self.page.find_elements(By.CSS_SELECTOR, "#graph option")]
        self.assertIn("CPU samples", titles)
        self.assertIn("Ranges", titles)
        self.assertIn("Memory allocated", titles)
        for title in titles:
            self.choose("#graph", title)
            self.wait_for_colours("#graph-canvas", 0.05)
            self.browser.keep("report_" + title.split(":")[0].replace(" ", "_"))
        self.find("#graph input").send_keys("train")
        self.browser.wait("a share", lambda _: "found" in
                          self.text("#graph .status"))
        canvas = self.find("#graph-canvas")
        canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        child = self.text("#graph .status")
        canvas.send_keys(Keys.ARROW_UP)
        self.assertNotEqual(self.text("#graph .status"), child)
        canvas.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
        self.assertEqual(self.text("#graph .status"), child)
        self.find("#graph button[aria-pressed]").send_keys(Keys.ENTER)
        self.wait_for_colours("#graph-canvas", 0.01)

    def test_memory_over_time(self):
        self.open("#v=memory")
        self.wait_for_colours(".memory-chart", 0.02)
        self.browser.keep("report_memory")
        at_peak = self.page.execute_script("""
            return [...document.querySelectorAll("#memory-0 .legend li")].map(
              (item) => [item.querySelector("bdi").textContent,
                Number(item.querySelector("[data-value]").dataset.value)])""")
        self.assertEqual(sum(size for _, size in at_peak),
                         self.recorded.heap_peak_bytes)
        pool = next(pool for pool in self.summary["memory"]["pools"]
                    if pool["source"] == "heap")
        operations = {row.get("operation"): row["bytes"]
                      for row in pool["peak"]["by_operation"]}
        for name, size in at_peak[:-1]:
            if name != "outside of operations":
                self.assertEqual(operations[name], size)
        rows = self.table("#peak-operations-0")
        self.assertEqual(
            [row[1] for row in rows],
            sorted((row["bytes"] for row in pool["peak"]["by_operation"]),
                   reverse=True))
        chart = self.find(".memory-chart")
        chart.send_keys(Keys.HOME)
        self.assertRegex(self.text("#memory-0 .status"), "^The peak: ")
        chart.send_keys(Keys.ARROW_RIGHT)
        self.assertRegex(self.text("#memory-0 .status"), r"^[\d.]+ \w+ at ")
        self.find("#peak-stacks-0 .link").click()
        self.assertIn("KiB" if rows[0][1] < 1 << 20 else "MiB",
                      self.text("#graph .status"))
        self.show("memory")
        chart.send_keys(Keys.ENTER)
        self.assertTrue(self.find("#view-timeline").is_displayed())

    def test_a_narrow_window_has_no_sideways_scroll(self):
        self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 400, "height": 800, "deviceScaleFactor": 1,
            "mobile": False})
        try:
            for view in ("summary", "timeline", "flame", "operations",
                         "memory"):
                self.open(f"#v={view}")
                self.assertEqual(self.page.execute_script(
                    "return document.documentElement.scrollWidth"), 400, view)
                self.browser.keep(f"report_narrow_{view}")
        finally:
            self.page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride",
                                      {})

    def test_tabs_answer_the_keyboard(self):
        self.open()
        self.find("#tab-summary").send_keys(Keys.ARROW_RIGHT)
        self.assertTrue(self.find("#view-timeline").is_displayed())
        self.assertEqual(self.find("#tab-timeline")
                         .get_attribute("aria-selected"), "true")

    def test_the_printed_page_has_all_views(self):
        self.open()
        self.page.execute_script("dispatchEvent(new Event('beforeprint'))")
        for canvas in ("#timeline-canvas", "#graph-canvas",
                       "#interval-graph-canvas"):
            self.assertGreater(self.drawn_share(canvas), 0.02, canvas)
        self.page.execute_script("dispatchEvent(new Event('afterprint'))")
        self.assertFalse(self.find("#view-flame").is_displayed())

    def test_both_themes_draw(self):
        self.open("#v=timeline")
        pictures = set()
        for _ in range(2):
            self.wait_for_colours("#timeline-canvas", 0.05)
            pictures.add(self.page.execute_script(
                "return getComputedStyle(document.body).backgroundColor"))
            self.find("#theme").click()
        self.assertEqual(len(pictures), 2)


    def prefer(self, scheme):
        self.page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}]})

    def theme(self):
        return self.page.execute_script(
            "return document.documentElement.dataset.theme")

    def test_the_theme_is_the_systems_until_somebody_chooses(self):
        try:
            self.prefer("dark")
            self.open()
            self.assertEqual(self.theme(), "dark")
            self.prefer("light")
            self.browser.wait("light", lambda _: self.theme() == "light")
            self.find("#theme").click()
            self.assertEqual(self.theme(), "dark")
            self.prefer("dark")
            self.prefer("light")
            self.assertEqual(self.theme(), "dark")
        finally:
            self.page.execute_cdp_cmd("Emulation.setEmulatedMedia", {})


class DevicePageTest(PageCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recorded = recorded.write_gpu_trace(cls.folder, "html")

    def test_streams_and_launches(self):
        self.open()
        totals = self.recorded.summary["totals"]
        self.assertEqual(self.fact("Device busy"),
                         totals["device_top_level_ns"])
        self.open("#v=timeline")
        self.wait_for_colours("#timeline-canvas", 0.02)
        field = self.find(".timeline input[type=search]")
        field.send_keys("cudaLaunchKernel", Keys.ENTER)
        self.browser.wait("a launch", lambda _: "launched" in
                          self.text(".side"))
        self.browser.keep("report_device")


class OddPageTest(PageCase):

    def write(self, kind):
        folder = self.folder / kind
        subprocess.run([ODD_WRITER, kind, str(folder), "html"], timeout=60,
                       check=True)
        return folder

    def test_no_events(self):
        self.open(folder=self.write("empty"))
        for view in ("timeline", "flame", "operations", "summary"):
            self.show(view)
        self.assertIn("no ranges", self.text("#view-flame"))

    def test_a_microsecond_in_a_year(self):
        self.open("#v=timeline", folder=self.write("far"))
        canvas = self.find("#timeline-canvas")
        canvas.send_keys(Keys.ARROW_RIGHT, "f")
        self.browser.wait("details", lambda _: "at last" in
                          self.text(".side h2"))
        self.wait_for_colours("#timeline-canvas", 0.005)
        self.assertEqual(self.table("#interval-operations")[0][2], 1000)

    def test_waits(self):
        folder = self.write("waits")
        subprocess.run([ODD_WRITER, "waits", str(folder), "summary"],
                       timeout=60, check=True)
        waits = json.loads((folder / "summary.json").read_text())["waits"]
        self.open("#v=summary", folder=folder)
        self.assertEqual(self.fact("Blocked"), 409_000)
        self.assertEqual(sum(waits["blocked_ns"].values()), 409_000)
        self.assertEqual([row[1:] for row in self.table("#top-waits")],
                         [["lock", 300_000, 300_000, 1],
                          ["read", 109_000, 100_000, 6]])
        self.open("#v=waits", folder=folder)
        self.assertEqual([row[:6] for row in self.table("#wait-places")], [
            ["pop", "condition", 500_000, 500_000, 1, "yes"],
            ["serve", "lock", 300_000, 300_000, 1, "no"],
            ["load", "read", 109_000, 100_000, 6, "no"]])
        # A row for each stack.
        self.assertEqual(
            [(row["where"], row["wait_ns"]) for row in waits["places"]],
            [("pop", 500_000), ("serve", 300_000), ("load", 105_000),
             ("load", 4_000)])
        self.assertEqual(self.table("#locks"), [
            [row["object"], row["wait_ns"], row["longest_ns"], row["count"],
             str(row["pid"])] for row in waits["locks"]])
        self.assertEqual(self.table("#wait-ranges")[0][:5],
                         ["serve", 1_000_000, 600_000, 400_000, 0])
        self.browser.keep("report_waits")
        self.find("#top-waits .link, #wait-places tbody tr:nth-child(2) .link") \
            .click()
        self.assertIn("[lock wait]  ·  300 µs", self.text("#graph .status"))
        self.choose("#graph", "Waits")
        self.assertEqual(self.text("#graph .status"), "all: 909 µs")
        self.choose("#graph", "CPU samples and waits")
        self.assertEqual(self.text("#graph .status"), "all: 1.11 ms")
        # A row of several stacks shows all of them.
        self.open("#v=waits", folder=folder)
        self.find("#wait-places tbody tr:nth-child(3) .link").click()
        self.assertEqual(self.text("#graph .status"),
                         "all: 909 µs  ·  found 12.0 %")
        self.open("#v=timeline&s=0,200000", folder=folder)
        self.choose("#interval-graph", "Waits")
        self.assertEqual(self.text("#interval-graph .status"), "all: 300 µs")

    def test_a_graph_of_functions_of_python(self):
        def button(text):
            return next(one for one in self.page.find_elements(
                By.CSS_SELECTOR, "#graph button")
                if one.get_property("textContent") == text)

        def names():
            return {row[0]: row[1:] for row in self.table("#graph-table")}

        self.open("#v=flame", folder=self.write("waits"))
        self.assertFalse(button("Python only").is_displayed())
        self.open("#v=flame", folder=self.write("python"))
        self.find("#graph details summary").click()
        self.assertEqual(names()["sha256"], [3_000_000, 3_000_000])
        self.assertEqual(names()["outer (a.py:1)"], [0, 5_000_000])
        button("Python only").click()
        self.assertEqual(names(), {"outer (a.py:1)": [2_000_000, 5_000_000],
                                   "inner (a.py:1)": [3_000_000, 3_000_000]})
        # A sample outside of Python counts, too.
        self.assertEqual(self.text("#graph .status"), "all: 6.00 ms")
        button("Callees first").click()
        self.assertEqual(set(names()), {"outer (a.py:1)", "inner (a.py:1)"})
        self.assertEqual(self.text("#graph .status"), "all: 6.00 ms")

    def test_evidence_of_a_wait_shows_the_waits(self):
        folder = self.write("waits")
        interval = {"kind": "interval", "name": "serve", "track": 0, "pid": 1,
                    "tid": 1, "begin_ns": 0, "duration_ns": 200_000}
        change_block(folder / "report.html", "summary", findings=[
            {"id": "one", "title": "one", "evidence": interval | more}
            for more in ({"table": "locks"}, {"table": "waits"}, {})])
        for number, shown in enumerate(["Waits", "Waits", "CPU samples"]):
            self.open("#v=summary", folder=folder)
            self.page.find_elements(
                By.CSS_SELECTOR, "#findings .link")[number].click()
            self.wait_for_text("#interval h2", "Selected: 200 µs from 0 ns")
            self.assertEqual(self.text(
                "#interval-graph select option:checked"), shown)

    def test_rare_samples_leave_no_gaps(self):
        self.open("#v=timeline", folder=self.write("rare"))
        # A tenth of it with gaps.
        self.wait_for_colours("#timeline-canvas", 0.02)

    def test_names_are_text(self):
        folder = self.write("odd")
        self.open("#v=operations", folder=folder)
        names = {row[0] for row in self.table("#operations")}
        self.assertIn("</script><b>", names)
        self.assertIn('say "hello"', names)
        self.assertEqual(self.page.find_elements(By.TAG_NAME, "b"), [])
        for view in ("timeline", "flame", "summary"):
            self.show(view)
        self.find(".link").click()
        self.assertTrue(self.find("#view-timeline").is_displayed())

    def test_a_browser_that_cannot_unpack_says_so(self):
        folder = self.write("empty")
        old = self.page.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": "delete window.DecompressionStream"})
        try:
            self.page.get((folder / "report.html").resolve().as_uri())
            self.assertIn("cannot unpack", self.text("#message"))
        finally:
            self.page.execute_cdp_cmd(
                "Page.removeScriptToEvaluateOnNewDocument", old)


class WrittenPageTest(WrittenCase):
    """Pages of traces whose numbers these tests know."""

    def test_averages_of_all_ranks_have_a_view(self):
        folder = self.write(ranged("solve", 0, 10))
        numbers = {"count": 3, "sum_ns": 900, "deviation_ns": 8.5,
                   "least_ns": 100, "least_rank": 2, "most_ns": 500,
                   "most_rank": 1}
        change_block(folder / "report.html", "summary", job={
            "ranks": [{"rank": rank, "work_ns": 10 * rank}
                      for rank in range(3)],
            "averages": [{"name": "solve", "calls": numbers | {"count": 7},
                          "totals_of_ranks": numbers, "call_histogram": []}]},
            ranks=[{"rank": 0, "wall_ns": 900},
                   {"rank": 1, "host": "b", "wall_ns": 800, "sent_bytes": 64,
                    "ended": "signal 9", "ended_ns": 700}],
            collectives=[{"name": "MPI_Barrier", "comm_name": "halo",
                          "missing_ranks": "0-2", "waiting_ns": 30,
                          "waiting_share": 0.5, "late_rank": 1}],
            findings=[{"id": "late_rank", "title": "rank 1 was late",
                       "evidence": {"kind": "row", "table": "collectives",
                                    "name": "MPI_Barrier"}}])
        self.open("#v=summary", folder=folder)
        self.assertIn("The job has 3 ranks", self.text(".summary > .note"))
        self.find(".findings .evidence button").click()
        self.assertEqual(self.table("#ranks-collectives"),
                         [["MPI_Barrier", "halo", "0-2", 30, 0.5, 1]])
        self.assertEqual(self.table("#ranks-ranks"), [
            ["0", "", 900, "", "", ""], ["1", "b", 800, 64, "signal 9", 700]])
        self.show("job")
        self.assertEqual(self.table("#job-operations"), [
            ["solve", 900, 300, 8.5, 500, 1, 100, 2, 3, 7, 500, 1]])
        self.assertEqual(self.table("#job-ranks"),
                         [["2", 20], ["1", 10], ["0", 0]])

    def test_the_cpu_limit_of_a_container_is_a_fact(self):
        folder = self.write(ranged("solve", 0, 10))
        change_block(folder / "report.html", "summary", cpu_limit={
            "cpus": 0.75, "quota_ns": 75_000_000, "period_ns": 100_000_000,
            "periods": 80, "throttled_periods": 41, "throttled_ns": 5})
        self.open("#v=summary", folder=folder)
        self.assertEqual(self.fact("CPU limit"), 0.75)
        self.assertIn("0.75 CPUsof the container (cgroup); it stopped threads "
                      "in 41 of 80 periods", self.text(".facts"))

    def test_a_selection_leaves_out_what_only_touches_it(self):
        self.open("#v=timeline&s=10000,20000", folder=self.write_touching())
        self.wait_for_text("#interval h2", "Selected: 10.0 µs")
        self.assertEqual(sorted(self.table("#interval-operations")),
                         [["around", 0, 10_000, 1, "CPU"],
                          ["b", 10_000, 10_000, 1, "CPU"]])

    def test_a_selection_is_within_the_trace(self):
        folder = self.write_touching()
        self.open("#v=timeline&s=25000,60000", folder=folder)
        self.wait_for_text("#interval h2", "Selected: 5.00 µs")
        self.open("#v=timeline&s=50000,60000", folder=folder)
        self.wait_for_text("#interval h2", "The whole time")
        canvas = self.find("#timeline-canvas")
        ActionChains(self.page).move_to_element_with_offset(
            canvas, 0, -canvas.size["height"] // 2 + 8).click_and_hold() \
            .move_by_offset(5 - canvas.size["width"] // 2, 0).release() \
            .perform()
        self.wait_for_text("#interval h2", "from 0 ns")

    def click_operation(self, name):
        self.page.execute_script("""
            [...document.querySelectorAll("#operations .link")].find((link) =>
              link.textContent === arguments[0]).click()""", name)

    def test_an_operation_shows_itself(self):
        folder = self.write(ranged("main", 0, 30), ranged("A", 0, 10),
                            ranged("a", 10, 10), ranged("\ufeffa", 20, 10))
        for name in ("a", "\ufeffa"):
            self.open("#v=operations", folder=folder)
            # The table shows characters that nobody sees.
            self.click_operation(name.replace("\ufeff", "‹U+FEFF›"))
            self.wait_for_text(".timeline output", "1 of 1")
            self.assertEqual(self.text(".side h2"),
                             name.replace("\ufeff", "‹U+FEFF›"))

    def test_numbers_of_arguments_are_exact(self):
        numbers = {"greatest": 2**63 - 1, "least": -2**63,
                   "odd": -(2**53) - 3}
        self.open("#v=timeline&e=0", folder=self.write(
            ranged("counts", 0, 10, args=numbers)))
        self.wait_for_text(".side h2", "counts")
        rows = dict(self.page.execute_script("""
            return [...document.querySelectorAll(".side dt")].map((name) =>
              [name.textContent, name.nextSibling.textContent])"""))
        for name, number in numbers.items():
            self.assertEqual(rows[name], str(number))

    def test_a_cut_file_says_so(self):
        folder = self.write_touching()
        page = folder / "report.html"
        whole = page.read_bytes()
        # In a block, and between two.
        for at in (whole.index(b'data-name="details"') + 40,
                   whole.index(b'<script type="application/octet-stream" '
                               b'data-name="meta"')):
            page.write_bytes(whole[:at])
            self.page.get(page.resolve().as_uri())
            self.wait_for_text("#message", "cannot be read")

    def test_a_graph_of_many_levels_draws(self):
        # 65,535 pixels are 3,640 levels.
        levels = 3_800
        folder = self.write(*[ranged(f"f{i}", i, 2 * (levels - i))
                              for i in range(levels)])
        self.open("#v=flame", folder=folder)
        self.wait_for_colours("#graph-canvas", 0.05)
        self.assertIn("click a box for those below",
                      self.text("#graph .status"))
        canvas = self.find("#graph-canvas")
        canvas.send_keys(Keys.ARROW_DOWN * 60)
        self.assertIn("f59", self.text("#graph .status"))
        self.assertGreater(self.page.execute_script("return scrollY"), 0)
        for button in self.page.find_elements(By.CSS_SELECTOR, "#graph button"):
            if button.text == "Callees first":
                self.page.execute_script("arguments[0].click()", button)
        self.assertRegex(self.text("#graph .status"),
                         r"the first \d+ levels around each")

    def test_ranges_that_share_a_pixel_are_drawn(self):
        # The long one begins in the pixel of the last short one. Each half of
        # the time takes more than a hundredth of the picture.
        self.open("#v=timeline", folder=self.write(
            *[ranged("short", 100 * i, 1) for i in range(5_000)],
            ranged("long", 499_902, 499_998)))
        self.wait_for_colours("#timeline-canvas", 0.02)

    def test_a_launch_of_many_kernels_names_the_first(self):
        kernels = [ranged(f"k{i}", 10 + 2 * i, 1, pid=0, tid=7, cat="kernel",
                          args={"device": 0, "stream": 7, "correlation": 9})
                   for i in range(300)]
        self.open("#v=timeline&e=0", folder=self.write(
            ranged("cudaGraphLaunch", 0, 5, cat="cuda_runtime",
                   args={"correlation": 9}), *kernels))
        self.wait_for_text(".side", "300 such events")
        self.assertEqual(len(self.page.find_elements(
            By.CSS_SELECTOR, ".side dd button")), 50)

    def test_the_search_goes_on_among_marks_of_one_moment(self):
        marks = [{"ph": "i", "name": f"m{i % 50}", "ts": 10, "pid": 1,
                  "tid": 1, "s": "t"} for i in range(300)]
        self.open("#v=timeline", folder=self.write(ranged("r", 0, 30), *marks))
        field = self.find(".timeline input[type=search]")
        field.send_keys("m49", Keys.ENTER)
        for match in ("1 of 6", "2 of 6", "3 of 6"):
            self.wait_for_text(".timeline output", match)
            self.wait_for_text(".side h2", "m49")
            self.page.switch_to.active_element.send_keys("n")
        self.assertEqual(field.get_property("value"), "m49")

    def test_letters_work_after_a_click_on_the_tab(self):
        self.open(folder=self.write_touching())
        self.show("timeline")
        seen = self.text("#timeline-range")
        self.page.switch_to.active_element.send_keys("w")
        self.browser.wait("a zoom", lambda _: self.text(
            "#timeline-range") not in ("", seen))

    def test_keys_work_on_a_linked_page_and_after_a_button(self):
        self.open("#v=timeline", folder=self.write_touching())
        for button in (None, ".timeline .bar button:nth-of-type(3)"):
            if button:
                self.find(button).click()
                self.browser.wait("the drawing", lambda _: self.text(
                    "#timeline-range") != "")
            seen = self.text("#timeline-range")
            self.page.switch_to.active_element.send_keys("w")
            self.page.switch_to.active_element.send_keys("w")
            self.browser.wait("a zoom", lambda _: self.text(
                "#timeline-range") not in ("", seen))

    def test_busy_processes_come_first(self):
        idle = [ranged(f"idle {pid}", 0, 100, pid=pid) for pid in range(1, 31)]
        busy = [ranged("busy", us / 2, 0.5, pid=99) for us in range(200)]
        self.open("#v=timeline", folder=self.write(*idle, *busy))
        canvas = self.find("#timeline-canvas")
        # The first range is below the axis and two titles.
        ActionChains(self.page).move_to_element_with_offset(
            canvas, 0, 24 + 2 * 22 + 9 - canvas.size["height"] // 2).click() \
            .perform()
        self.wait_for_text(".side h2", "busy")

    def test_a_range_at_the_end_is_drawn(self):
        self.open("#v=timeline", folder=self.write(
            ranged("first", 0, 1), ranged("last", 1_000_000, 0.001)))
        # Of the last column of pixels, as high as a range.
        self.browser.wait("a drawing", lambda page: page.execute_script("""
            const canvas = document.getElementById("timeline-canvas");
            const { width, height } = canvas;
            const seen = canvas.getContext("2d").getImageData(
              width - 1, 0, 1, height).data;
            let coloured = 0;
            for (let i = 0; i < seen.length; i += 4) {
              const [red, green, blue] = seen.slice(i, i + 3);
              coloured += Math.max(red, green, blue) -
                Math.min(red, green, blue) > 40;
            }
            return coloured >= 8"""))

    def test_ticks_of_a_year_are_days(self):
        self.open("#v=timeline", folder=self.write(
            ranged("far", 365 * 86_400_000_000, 1), ranged("near", 0, 1)))
        texts = self.page.execute_async_script("""
            const done = arguments[0];
            const found = [];
            const { prototype } = CanvasRenderingContext2D;
            const { fillText } = prototype;
            prototype.fillText = function (text, ...rest) {
              found.push(text);
              fillText.call(this, text, ...rest);
            };
            document.getElementById("timeline-canvas").dispatchEvent(
              new KeyboardEvent("keydown", { key: "0", bubbles: true }));
            requestAnimationFrame(() => requestAnimationFrame(() => {
              prototype.fillText = fillText;
              done(found);
            }))""")
        self.assertIn("50 d", texts)
        self.assertFalse([text for text in texts if text.endswith("00 s")])

    def test_a_link_says_all_that_is_shown(self):
        self.open("#v=timeline&s=0,10000&e=1", folder=self.write_touching())
        self.wait_for_text("#interval h2", "Selected")
        self.assertEqual(self.text(".side h2"), "a")
        self.page.execute_script("location.hash = '#v=timeline&t=5000,6000'")
        self.wait_for_text("#interval h2", "The whole time")
        self.wait_for_text(".side", "Click an event")

    def test_times_have_no_more_than_their_unit_holds(self):
        self.open("#v=timeline&s=0,999999",
                  folder=self.write(ranged("long", 0, 700_000_000)))
        self.wait_for_text("#interval h2", "Selected: 1.00 ms")
        self.page.execute_script("location.hash = '#s=0,659600000000'")
        self.wait_for_text("#interval h2", "Selected: 11 min 0 s")

    def test_long_tables_grow_by_a_thousand_rows(self):
        self.open("#v=operations", folder=self.write(
            *[ranged(f"op {i}", i, 1) for i in range(1_300)]))
        self.assertEqual(len(self.table("#operations")), 100)
        self.find("#operations > button").click()
        self.assertEqual(len(self.table("#operations")), 1_100)
        self.assertEqual(self.text("#operations > button"),
                         "Show 200 more of 1,300 rows")

    def test_the_first_screen_has_the_hottest_of_all(self):
        work = [ranged(f"op {i}", 10 * i, 5) for i in range(12)]
        kernels = [ranged(f"kernel {i}", 0, 100 * i, pid=0, tid=i,
                          cat="kernel",
                          args={"device": 0, "stream": i, "correlation": i})
                   for i in (1, 7, 12)]
        self.open(folder=self.write(ranged("main", 0, 2000), *work, *kernels))
        self.assertEqual([row[0] for row in self.table("#top-operations")][:4],
                         ["main", "kernel 12", "kernel 7", "kernel 1"])
        self.assertEqual(self.text("#top-operations h2"),
                         "Operations (10 of 16)")
        for _ in range(2):  # up, then down
            self.find("#streams th:nth-child(4) button").click()
        shares = [row[3] for row in self.table("#streams")]
        self.assertEqual(len(shares), 3)
        self.assertEqual(shares, sorted(shares))


if __name__ == "__main__":
    unittest.main()
