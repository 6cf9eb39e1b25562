"""The memory timeline's page in a real browser."""

import pathlib
import tempfile
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from tests.e2e.consumers import recorded
from tests.e2e.consumers.browser import Browser

MIB = 2**20


class MemoryPageTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name) / "out"
        cls.recorded = recorded.record(folder, "--export=memory_timeline",
                                       "--profile_memory")
        cls.browser = cls.enterClassContext(Browser())
        cls.browser.open(
            cls.recorded.path("memory_timeline.html").resolve().as_uri())

    def find(self, name):
        return self.browser.page.find_element(By.ID, name)

    def test_draws_and_answers_the_mouse(self):
        peak = self.recorded.heap_peak_bytes
        self.assertEqual(self.find("maxima").text,
                         f"Max memory allocated: {peak / MIB:.2f} MiB")
        chart = self.find("chart")
        # About half of it is memory.
        self.browser.wait_until_drawn("memory", lambda _: chart, share=0.2)
        ActionChains(self.browser.page).move_to_element(chart).perform()
        tip = self.browser.wait("a tip", lambda _: self.find("tip").text)
        self.assertRegex(tip, r"^[\d.]+ ms\n[\d.]+ [KM]iB\n")
        self.browser.keep("memory_timeline")
        self.assertEqual(self.browser.errors(), [])


if __name__ == "__main__":
    unittest.main()
