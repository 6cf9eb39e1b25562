"""Headless Chromium, which draws pages as a user sees them.

    with Browser() as browser:
        browser.open("http://127.0.0.1:6006/")
        browser.wait("the chart", lambda page: page.find_elements(...))
        browser.keep("chart")              # a screenshot for whoever looks
        assert not browser.errors()

Screenshots go where Bazel keeps a test's outputs. In the folder KYMO_PICTURES
they replace what is there already: see docs/images/README.md.
"""

import io
import os
import pathlib
import tempfile
import time

from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

CHROMIUM = "/usr/bin/chromium"
DRIVER = "/usr/bin/chromedriver"
WAIT_SECONDS = 60

# Of the difference between two channels or two pixels, up to 255.
VISIBLE = 40


def pixel_share(png, is_counted):
    """The share of pixels with `is_counted(colour, background)`."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    colours = picture.getcolors(picture.width * picture.height)
    _, background = max(colours)
    counted = sum(count for count, colour in colours
                  if is_counted(colour, background))
    return counted / (picture.width * picture.height)


def drawn(colour, background):
    """It differs from the commonest colour."""
    return max(abs(a - b) for a, b in zip(colour, background)) > VISIBLE


def coloured(colour, _):
    """It is neither grey nor nearly so, as most frames and texts are."""
    return max(colour) - min(colour) > VISIBLE


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

    def wait_until_drawn(self, what, find, share, is_counted=drawn):
        """Until this share of `find(page)` is drawn or coloured."""

        def share_is_reached(page):
            png = find(page).screenshot_as_png
            return pixel_share(png, is_counted) > share

        self.wait(f"a drawing of {what}", share_is_reached)

    def errors(self):
        """Errors on the console since the last call."""
        return [entry["message"] for entry in self.page.get_log("browser")
                if entry["level"] == "SEVERE"]

    def keep(self, name):
        """Keeps a screenshot of the page as NAME.png."""
        png = self.page.get_screenshot_as_png()
        outputs = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if outputs:
            pathlib.Path(outputs, f"{name}.png").write_bytes(png)
        pictures = os.environ.get("KYMO_PICTURES")
        if pictures and os.path.exists(f"{pictures}/{name}.png"):
            pathlib.Path(pictures, f"{name}.png").write_bytes(png)
