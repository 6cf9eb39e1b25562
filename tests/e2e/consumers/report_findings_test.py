"""The findings on report.html, and where they lead."""

import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.e2e.consumers.page_case import WrittenCase
from tests.e2e.consumers.page_case import change_block


class FindingsTest(WrittenCase):
    """Of pages whose findings are made here."""

    HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\"&amp;"

    def open_findings(self, *findings):
        folder = self.write_touching()
        # As findings_section.h describes them.
        change_block(folder / "report.html", "summary", findings=findings)
        self.open(folder=folder)

    def follow(self, number=0):
        self.show("summary")
        self.page.find_elements(
            By.CSS_SELECTOR, "#findings .link")[number].send_keys(Keys.ENTER)

    def test_nothing_is_shown_of_none(self):
        self.open_findings()
        self.assertEqual(self.page.find_elements(By.ID, "findings"), [])

    def test_each_has_its_number_and_its_evidence(self):
        self.open_findings(
            {"id": "hot", "title": "b takes a third of the time",
             "next_step": "Look at who calls it.", "time_ns": 10_000,
             "share": 0.3333, "evidence": {
                 "kind": "event", "name": "b", "track": 0, "pid": 1, "tid": 1,
                 "begin_ns": 10_000, "duration_ns": 10_000}},
            {"id": "late", "title": "The end is late", "evidence": {
                "kind": "interval", "name": "the end", "track": 0, "pid": 1,
                "tid": 1, "begin_ns": 20_000, "duration_ns": 5_000}},
            {"id": "deep", "title": "bb is deep", "evidence": {
                "kind": "stack", "name": "bb", "frames": ["around", "a",
                                                          "bb"]}},
            {"id": "often", "title": "c is called often", "evidence": {
                "kind": "row", "table": "key_averages", "name": "c"}},
            {"id": "lost", "title": "Data are missing", "evidence": {
                "kind": "row", "table": "ledger", "name": "samples_lost"}},
            {"id": "leak", "title": "The program grows", "bytes": 3 << 20},
            {"id": "all", "title": "All threads wait", "time_ns": 75_000,
             "share": 2.5})
        self.assertEqual(
            [item.text.split("\n") for item in
             self.page.find_elements(By.CSS_SELECTOR, "#findings ol > li")],
            [["10.0 µs", "33.3 % of the run", "b takes a third of the time",
              "Look at who calls it.", "b", "10.0 µs"],
             ["The end is late", "the end", "5.00 µs"],
             ["bb is deep", "bb", "flame graph"],
             ["c is called often", "c", "table"],
             ["Data are missing", "samples_lost", "table"],
             ["3.00 MiB", "The program grows"],
             ["75.0 µs", "2.5 times the run", "All threads wait"]])
        self.browser.keep("report_findings")
        self.follow(0)
        self.wait_for_text(".side h2", "b")
        self.assertEqual(self.text(".side h2"), "b")
        self.follow(1)
        self.wait_for_text("#interval h2", "Selected: 5.00 µs from 20.0 µs")
        self.follow(2)
        self.assertIn("bb  ·  3.00 µs", self.text("#graph .status"))
        self.follow(3)
        self.assertTrue(self.find("#view-operations").is_displayed())
        self.assertEqual(self.text("#operations tr.found th"), "c")

    def test_their_texts_are_no_markup(self):
        self.open_findings(*(
            {"id": self.HOSTILE, "title": self.HOSTILE,
             "next_step": self.HOSTILE, "time_ns": 1, "evidence": {
                 "kind": kind, "name": self.HOSTILE, "track": 7,
                 "frames": [self.HOSTILE]}}
            for kind in ("interval", "event", "stack", "other")))
        shown = self.HOSTILE.replace("\u202e", "‹U+202E›")
        self.assertEqual(self.text("#findings h3"), shown)
        self.assertEqual(self.text("#findings .link"), shown)
        for number in range(4):
            self.follow(number)
        self.assertEqual(self.page.find_elements(By.TAG_NAME, "img"), [])

    def test_they_fit_a_narrow_window(self):
        self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 400, "height": 800, "deviceScaleFactor": 1,
            "mobile": False})
        try:
            self.open_findings({
                "id": "long", "title": "a::" * 100, "time_ns": 10_000,
                "evidence": {"kind": "stack", "name": "b::" * 100}})
            self.assertEqual(self.page.execute_script(
                "return document.documentElement.scrollWidth"), 400)
            self.browser.keep("report_narrow_findings")
        finally:
            self.page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride",
                                      {})


if __name__ == "__main__":
    unittest.main()
