"""The memory timeline's page in a real browser."""

import io
import os
import shutil
import subprocess
import unittest

from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

from tests.e2e.consumers import recorded
from tests.e2e.consumers.page_case import PageCase
from tests.e2e.consumers.page_case import change_block

SAMPLE_PAGE = os.path.abspath(os.environ.get("KYMO_SAMPLE_PAGE", ""))
MIB = 2**20
MS = 1_000_000
CATEGORIES = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY",
              "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "Unknown"]
TEMPORARY, UNKNOWN = 3, 7

# Of the picture, in pixels (memory_chart.js).
LEFT, HEIGHT, AXIS, HEAD = 76, 260, 22, 18


class MemoryPageCase(PageCase):
    FILE = "memory_timeline.html"

    @property
    def canvas(self):
        return self.find(".memory-chart")

    def status(self):
        return self.text("#memory-0 .status")

    def layers(self):
        """Names and bytes of the legend, from the bottom."""
        return self.page.execute_script("""
            return [...document.querySelectorAll(".legend li")].map((item) =>
              [item.querySelector("bdi").textContent,
               Number(item.querySelector("[data-value]").dataset.value)])""")


class RecordedTest(MemoryPageCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recorded = recorded.record(cls.folder, "--export=memory_timeline",
                                       "--profile_memory")

    def test_draws_and_answers_the_mouse(self):
        self.open()
        peak = self.recorded.heap_peak_bytes
        self.assertRegex(self.text("#maxima"),
                         r"^Max memory allocated: [\d.]+ [KM]iB$")
        # The peak is told before anything is pointed at.
        self.assertRegex(self.status(), r"^The peak: [\d.]+ [KM]iB at [\d.]+ ")
        self.assertEqual(sum(size for _, size in self.layers()), peak)
        # About half of it is memory.
        self.browser.wait_until_drawn("memory", lambda _: self.canvas,
                                      share=0.2)
        ActionChains(self.page).move_to_element(self.canvas).perform()
        self.assertRegex(self.status(), r"[\d.]+ [KM]iB at [\d.]+ ms$")
        self.browser.keep("memory_timeline")


class SampleTest(MemoryPageCase):
    """24 MiB from 1 to 9 ms, and 16 MiB, temporary, from 2 to 3 ms, of 10."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([SAMPLE_PAGE, str(cls.folder)], timeout=60, check=True)

    def x(self, ms, begin=0, end=10):
        width = self.canvas.size["width"] - LEFT
        return LEFT + (ms - begin) / (end - begin) * width

    def expect(self, status):
        self.browser.wait(f"'{status}'", lambda _: self.status() == status)

    def point(self, x, status):
        """Points there, where the page says this."""
        ActionChains(self.page).move_to_element_with_offset(
            self.canvas, round(x - self.canvas.size["width"] / 2), 0).perform()
        self.expect(status)

    def wheel(self, x, by):
        ActionChains(self.page).scroll_from_origin(
            ScrollOrigin.from_element(
                self.canvas, round(x - self.canvas.size["width"] / 2), 0),
            0, by).perform()

    def pixel(self, x, mib, most=40):
        picture = Image.open(io.BytesIO(self.canvas.screenshot_as_png))
        bottom = HEIGHT - AXIS
        y = bottom - mib / most * (bottom - HEAD)
        return picture.convert("RGB").getpixel((round(x), round(y)))

    def layer_colour(self, layer):
        colour = self.page.execute_script("""
            return getComputedStyle(document.documentElement)
              .getPropertyValue("--layer-" + arguments[0]).trim()""", layer)
        return tuple(bytes.fromhex(colour[1:]))

    def page_colour(self):
        colour = self.page.execute_script(
            "return getComputedStyle(document.body).backgroundColor")
        return tuple(int(part) for part in colour[4:-1].split(","))

    def test_says_what_it_shows(self):
        self.open()
        self.assertEqual(self.page.title, "Memory timeline of cpu")
        self.assertIn("Memory timeline of cpu", self.text("h1"))
        self.assertEqual(self.text("#maxima"), "Max memory allocated: 40.0 MiB")
        self.assertEqual(self.page.find_elements(By.ID, "note"), [])
        self.assertEqual([name for name, _ in self.layers()], CATEGORIES)
        self.assertEqual(self.text("#message"), "")

    def test_areas_lie_on_top_of_one_another(self):
        self.open()
        for _ in range(2):  # both themes
            temporary = self.layer_colour(TEMPORARY)
            unknown = self.layer_colour(UNKNOWN)
            self.assertNotEqual(temporary, unknown)
            for ms, mib, colour in (
                    (0.5, 1, self.page_colour()), (1.5, 1, unknown),
                    (1.5, 23, unknown), (1.5, 25, self.page_colour()),
                    (2.5, 1, temporary), (2.5, 15, temporary),
                    (2.5, 17, unknown), (2.5, 39, unknown),
                    (3.5, 1, unknown), (8.9, 23, unknown),
                    (9.1, 1, self.page_colour())):
                self.assertEqual(self.pixel(self.x(ms), mib), colour,
                                 (ms, mib))
            before = unknown
            self.find("#theme").click()
            self.assertNotEqual(self.layer_colour(UNKNOWN), before)

    def test_pointing_tells_time_and_bytes(self):
        self.open()
        self.expect("The peak: 40.0 MiB at 2.00 ms")
        self.point(self.x(0.5), "0 B at 0 ns")
        self.point(self.x(2.5), "The peak: 40.0 MiB at 2.00 ms")
        self.assertEqual(self.layers(), [
            [name, {"TEMPORARY": 16 * MIB, "Unknown": 24 * MIB}.get(name, 0)]
            for name in CATEGORIES])
        self.point(self.x(5), "24.0 MiB at 3.00 ms")
        self.assertEqual(self.layers()[UNKNOWN], ["Unknown", 24 * MIB])
        self.assertEqual(self.layers()[TEMPORARY], ["TEMPORARY", 0])
        self.point(self.x(9.9), "0 B at 9.00 ms")

    def test_the_wheel_zooms_and_dragging_moves(self):
        self.open()
        edge = LEFT + 2
        self.wheel(self.x(5), -500)  # 37 %: from 3.16 to 6.84 ms
        self.point(self.x(5), "24.0 MiB at 3.00 ms")
        self.point(edge, "24.0 MiB at 3.00 ms")
        # What is visible has all of the height.
        self.assertEqual(self.pixel(self.x(8), 23, most=24),
                         self.layer_colour(UNKNOWN))
        ActionChains(self.page).move_to_element(self.canvas).click_and_hold() \
            .move_by_offset(round(0.2 * (self.canvas.size["width"] - LEFT)), 0) \
            .release().perform()  # from 2.42 ms
        self.point(edge, "The peak: 40.0 MiB at 2.00 ms")
        self.point(self.x(9.9), "24.0 MiB at 3.00 ms")
        self.wheel(edge, 100_000)
        self.point(edge, "0 B at 0 ns")
        self.point(self.x(9.9), "0 B at 9.00 ms")
        self.wheel(self.x(5), -100_000)
        self.point(edge, "24.0 MiB at 3.00 ms")
        self.point(self.x(9.9), "24.0 MiB at 3.00 ms")
        ActionChains(self.page).double_click(self.canvas).perform()
        self.point(edge, "0 B at 0 ns")
        self.point(self.x(9.9), "0 B at 9.00 ms")

    def test_answers_the_keyboard(self):
        self.open()
        for key, status in (
                (Keys.ARROW_RIGHT, "24.0 MiB at 3.00 ms"),
                (Keys.ARROW_RIGHT, "0 B at 9.00 ms"),
                (Keys.ARROW_RIGHT, "0 B at 9.00 ms"),
                (Keys.HOME, "The peak: 40.0 MiB at 2.00 ms"),
                (Keys.ARROW_LEFT, "24.0 MiB at 1.00 ms"),
                (Keys.ARROW_LEFT, "0 B at 0 ns"),
                (Keys.ARROW_LEFT, "0 B at 0 ns")):
            self.canvas.send_keys(key)
            self.expect(status)
        self.canvas.send_keys(Keys.HOME, "wwww")  # 2.4 ms, with 2 at a fifth
        self.assertEqual(self.pixel(self.x(2.5, 1.52, 3.92), 1),
                         self.layer_colour(TEMPORARY))
        self.assertEqual(self.pixel(self.x(9.9), 1), self.layer_colour(UNKNOWN))
        self.canvas.send_keys("ddddddddddddddd")
        self.assertEqual(self.pixel(self.x(9.9), 0.5, most=24),
                         self.page_colour())
        # The first 2.4 ms.
        self.canvas.send_keys("aaaaaaaaaaaaaaaaaaaa")
        self.point(self.x(0.5, 0, 2.4), "0 B at 0 ns")
        self.point(self.x(1.5, 0, 2.4), "24.0 MiB at 1.00 ms")
        self.canvas.send_keys("0")
        self.assertEqual(self.pixel(self.x(2.5), 1),
                         self.layer_colour(TEMPORARY))

    def test_a_table_is_behind_the_picture(self):
        self.open()
        self.find("#memory-0 summary").click()
        self.browser.wait("a table", lambda _: self.page.find_elements(
            By.ID, "rows-0"))
        none = [0] * TEMPORARY
        self.assertEqual(self.table("#rows-0"), [
            [0, 0, *none, 0, 0, 0, 0, 0],
            [1 * MS, 24 * MIB, *none, 0, 0, 0, 0, 24 * MIB],
            [2 * MS, 40 * MIB, *none, 16 * MIB, 0, 0, 0, 24 * MIB],
            [3 * MS, 24 * MIB, *none, 0, 0, 0, 0, 24 * MIB],
            [9 * MS, 0, *none, 0, 0, 0, 0, 0]])

    def changed(self, **members):
        folder = self.folder / "changed"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.folder / self.FILE, folder)
        change_block(folder / self.FILE, "timeline", **members)
        self.open(folder=folder)

    def test_units_of_memory(self):
        for size, text in ((0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"),
                           (MIB - 1, "1.00 MiB"), (2**30, "1.00 GiB")):
            self.changed(max_allocated=size)
            self.assertEqual(self.text("#maxima"),
                             f"Max memory allocated: {text}")
        self.changed(max_allocated=1, max_reserved=3072)
        self.assertEqual(
            self.text("#maxima"),
            "Max memory allocated: 1 B, max memory reserved: 3.00 KiB")

    def test_says_how_many_points_are_shown(self):
        self.changed(points=5_000)
        self.assertEqual(self.text("#note"), "4 of 5,000 points are shown; "
                         "peaks are among them.")

    def test_no_memory_at_all(self):
        self.changed(times_us=[], bytes=[], end_us=0, points=0, max_allocated=0)
        self.assertEqual(self.page.find_elements(By.ID, "note"), [])
        self.expect("The peak: 0 B at 0 ns")
        self.canvas.send_keys(Keys.ARROW_RIGHT, "w")
        self.expect("The peak: 0 B at 0 ns")

    def test_a_year_can_be_zoomed(self):
        self.changed(end_us=31_536_000_000_000,
                     times_us=[0, 31_535_999_999_999], bytes=[[0] * 8, [1] * 8])
        self.expect("The peak: 8 B at 365.0 days")
        self.canvas.send_keys("w" * 120)
        self.canvas.send_keys(Keys.ARROW_LEFT)
        self.expect("0 B at 0 ns")

    def test_a_cut_file_says_so(self):
        folder = self.folder / "cut"
        folder.mkdir()
        whole = (self.folder / self.FILE).read_bytes()
        at = whole.index(b'data-name="timeline"') + 60
        (folder / self.FILE).write_bytes(whole[:at])
        self.page.get((folder / self.FILE).resolve().as_uri())
        self.wait_for_text("#message", "cannot be read")

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
