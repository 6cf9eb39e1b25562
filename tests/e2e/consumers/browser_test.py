"""The browser of these tests notices what it is there to notice."""

import io
import unittest
import urllib.parse

from PIL import Image
from selenium.webdriver.common.by import By

from tests.e2e.consumers.browser import Browser
from tests.e2e.consumers.browser import coloured
from tests.e2e.consumers.browser import drawn
from tests.e2e.consumers.browser import pixel_share

BOX = "<div id=box style='width:200px;height:100px;background:%s'></div>"


def png(*colours):
    """A picture of one pixel of each."""
    picture = Image.new("RGB", (len(colours), 1))
    picture.putdata(colours)
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


class PixelShareTest(unittest.TestCase):

    def test_counts_what_differs_from_the_background(self):
        white, pale, black, red = ((255,) * 3, (240,) * 3, (0,) * 3,
                                   (255, 0, 0))
        self.assertEqual(pixel_share(png(white, white), drawn), 0)
        self.assertEqual(pixel_share(png(white, white, pale, pale), drawn), 0)
        picture = png(white, white, white, black, red)
        self.assertEqual(pixel_share(picture, drawn), 2 / 5)
        self.assertEqual(pixel_share(picture, coloured), 1 / 5)


class BrowserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())

    def open(self, page):
        self.browser.open("data:text/html," + urllib.parse.quote(page))

    def find_box(self, page):
        return page.find_element(By.ID, "box")

    def test_waits_for_a_drawing(self):
        self.open(BOX % "linear-gradient(red,white)" + """
            <script>box.style.display = 'none';
            setTimeout(() => box.style.display = 'block', 300)</script>""")
        self.browser.wait_until_drawn("the box", self.find_box, share=0.3,
                                      is_counted=coloured)
        self.assertEqual(self.browser.errors(), [])

    def test_an_empty_view_is_an_error(self):
        self.open(BOX % "white")
        with self.assertRaisesRegex(AssertionError, "the box did not appear"):
            self.browser.wait("the box", lambda page: pixel_share(
                self.find_box(page).screenshot_as_png, drawn) > 0, seconds=1)

    def test_errors_on_the_console(self):
        self.open("<script>throw new Error('from a script')</script>")
        self.assertRegex(self.browser.errors()[0], "from a script")
        self.open("<script>console.error('said', 1)</script>")
        self.assertRegex(self.browser.errors()[0], "said")
        self.assertEqual(self.browser.errors(), [])


if __name__ == "__main__":
    unittest.main()
