"""Headless Chromium, which draws pages as a user sees them.

    with Browser() as browser:
        browser.open("http://127.0.0.1:6006/")
        browser.wait("the chart", lambda page: page.find_elements(...))
        browser.keep("chart")              # a screenshot for whoever looks
        assert not browser.errors()

Screenshots go where Bazel keeps a test's outputs, and to KYMO_PICTURES.
"""

import io
import os
import tempfile
import time

from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

CHROMIUM = "/usr/bin/chromium"
DRIVER = "/usr/bin/chromedriver"
WAIT_SECONDS = 60

# A frame and a caption are no drawing.
DRAWN_SHARE = 0.01


def drawn_share(png):
    """The share of a picture's pixels that are not its background's."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    colours = picture.getcolors(picture.width * picture.height)
    return 1 - max(count for count, _ in colours) / sum(c for c, _ in colours)


class Browser:

    def __init__(self, width=1280, height=800):
        self._scratch = tempfile.TemporaryDirectory()
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in ("headless=new", "disable-gpu", "disable-dev-shm-usage",
                     "no-first-run", "hide-scrollbars",
                     f"window-size={width},{height}",
                     f"user-data-dir={self._scratch.name}"):
            options.add_argument(f"--{flag}")
        if os.getuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        environment = dict(os.environ, HOME=self._scratch.name)
        self.page = webdriver.Chrome(
            options=options,
            service=Service(executable_path=DRIVER, env=environment))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.quit()
        self._scratch.cleanup()

    def open(self, url):
        self.page.get(url)

    def wait(self, what, condition, seconds=WAIT_SECONDS):
        """What `condition(page)` returns once it is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = condition(self.page)
                if value:
                    return value
                error = None
            except WebDriverException as exception:
                error = exception  # of elements that come and go
            if time.monotonic() > end:
                self.keep("failed")
                raise AssertionError(
                    f"{what} did not appear in {seconds} s; the page says "
                    f"{self.errors()}") from error
            time.sleep(0.1)

    def wait_until_drawn(self, what, find):
        """The picture of `find(page)`, once it is more than background."""

        def picture(page):
            png = find(page).screenshot_as_png
            return png if drawn_share(png) > DRAWN_SHARE else None

        return self.wait(f"a drawing of {what}", picture)

    def errors(self):
        """Errors on the console since the last call."""
        return [entry["message"] for entry in self.page.get_log("browser")
                if entry["level"] == "SEVERE"]

    def keep(self, name):
        """Keeps a screenshot of the page."""
        png = self.page.get_screenshot_as_png()
        for variable in ("TEST_UNDECLARED_OUTPUTS_DIR", "KYMO_PICTURES"):
            folder = os.environ.get(variable)
            if folder:
                with open(os.path.join(folder, f"{name}.png"), "wb") as file:
                    file.write(png)
        return png
