"""What tests of our pages share: they open them from a file:// address.

    class MyTest(WrittenCase):
        def test_it(self):
            self.open("#v=timeline", folder=self.write(ranged("a", 0, 10)))
            self.wait_for_text("#interval h2", "The whole time")
"""

import base64
import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from selenium.webdriver.common.by import By

from tests.e2e.consumers.browser import Browser
from tests.e2e.consumers.browser import coloured
from tests.e2e.consumers.browser import pixel_share

REPORT = os.path.abspath(os.environ.get("KYMO_REPORT", ""))

READ_TABLE = """
return [...document.querySelectorAll(arguments[0] + " tbody tr")].map(
  (row) => [...row.children].map((cell) =>
    cell.dataset.value === undefined ? cell.textContent
                                     : Number(cell.dataset.value)));
"""


BLOCK = r'(data-name="%s">)([^<]*)'


def change_block(path, name, **members):
    """Gives the JSON in a block of a page's data these members."""

    def changed(found):
        data = json.loads(gzip.decompress(base64.b64decode(found.group(2))))
        packed = gzip.compress(json.dumps(data | members).encode())
        return found.group(1) + base64.b64encode(packed).decode()

    path.write_text(re.sub(BLOCK % name, changed,
                           path.read_text(encoding="utf-8"), count=1),
                    encoding="utf-8")


class PageCase(unittest.TestCase):
    """Opens pages, and holds each to what all pages promise."""

    FILE = "report.html"

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name) / "out"
        cls.browser = cls.enterClassContext(Browser())
        cls.page = cls.browser.page

    def tearDown(self):
        self.assertEqual(self.page.get_log("browser"), [])
        self.assertEqual(self.page.execute_script(
            "return performance.getEntriesByType('resource').length"), 0)

    def open(self, place="", folder=None):
        self.page.get("about:blank")
        path = (folder or self.folder) / self.FILE
        self.page.get(path.resolve().as_uri() + place)
        self.browser.wait("the page", lambda page: page.execute_script(
            "return document.documentElement.dataset.ready === 'yes'"))
        if "timeline" in place:
            self.browser.wait("the sums", lambda page: page.find_elements(
                By.ID, "interval"))

    def find(self, selector):
        return self.page.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.page.execute_script(
            "return document.querySelector(arguments[0]).textContent", selector)

    def show(self, view):
        self.find(f"#tab-{view}").click()

    def table(self, selector):
        return self.page.execute_script(READ_TABLE, selector)

    def drawn_share(self, selector):
        return pixel_share(self.find(selector).screenshot_as_png, coloured)

    def wait_for_colours(self, selector, share):
        self.browser.wait(f"colours of {selector}",
                          lambda _: self.drawn_share(selector) > share)

    def choose(self, graph, title):
        """Shows the flame graph with this title."""
        self.page.execute_script("""
            const select = document.querySelector(arguments[0] + " select");
            select.selectedIndex = [...select.options].findIndex((option) =>
              option.text === arguments[1]);
            select.dispatchEvent(new Event("change"));""", graph, title)

    def fact(self, name):
        return self.page.execute_script("""
            return Number([...document.querySelectorAll(".fact")].find(
              (fact) => fact.querySelector("dt").textContent === arguments[0])
              .querySelector("dd").dataset.value)""", name)

    def wait_for_text(self, selector, text):
        self.browser.wait(text, lambda _: text in self.text(selector))

    def view_of(self):
        """What the address says once the page has settled."""
        return self.browser.wait("an address", lambda page: page.execute_script(
            "return location.hash"))


def ranged(name, start_us, us, **members):
    return {"ph": "X", "name": name, "ts": start_us, "dur": us, "pid": 1,
            "tid": 1, "cat": "user_annotation", **members}


class WrittenCase(PageCase):
    """Pages of traces that a test writes."""

    def write(self, *events):
        folder = self.folder / self.id()
        folder.mkdir(parents=True)
        trace = folder / "trace.json"
        trace.write_text(json.dumps({"traceEvents": events}))
        subprocess.run([REPORT, "--export=html", f"--output_dir={folder}",
                        str(trace)], timeout=60, check=True,
                       stdout=subprocess.DEVNULL)
        return folder

    def write_touching(self):
        return self.write(ranged("around", 0, 30), ranged("a", 0, 10),
                          ranged("b", 10, 10), ranged("c", 20, 10),
                          ranged("bb", 2, 3))
