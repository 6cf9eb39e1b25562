#!/usr/bin/env python3
"""Draws the views of report.html as pictures, for the documentation.

    ./bazelw build //tools:profile //tools:report //examples:train_mlp
    tools/dev/draw_page.py docs/images

records train_mlp, opens its page in headless Chromium, and writes page_VIEW.png for each view. The comparison is with
a larger model. It takes Chromium and the Python packages of tests/e2e/consumers, which `./bazelw test` installs.
"""

import argparse
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "bazel-bin/tools/profile"
RUNTIME = ROOT / "bazel-bin/tools/runtime"
REPORT = ROOT / "bazel-bin/tools/report"
TRAIN_MLP = ROOT / "bazel-bin/examples/train_mlp/train_mlp"
WIDTH, HEIGHT = 1200, 760
COLOURS = 48  # of a picture: smaller files, which look the same


def copy_programs(folder):
    """Pictures have paths of programs, but not where this repository is."""
    for path in (PROFILE, TRAIN_MLP, *RUNTIME.glob("*.so")):
        shutil.copy(path, folder)


def record(folder, *flags):
    subprocess.run(["./profile", "--quiet", "--profile_memory", f"--output_dir={folder}", "./train_mlp", *flags],
                   check=True, cwd=folder.parent, stdout=subprocess.DEVNULL)


def compare(folder, before, after):
    traces = [next(one.glob("trace.json*")) for one in (before, after)]
    subprocess.run([REPORT, "--diff", "--export=html", f"--output_dir={folder}", *traces], check=True,
                   stdout=subprocess.DEVNULL)


def show_a_step(browser):
    """A step in the middle, and what is in it."""
    from selenium.webdriver.common.keys import Keys  # of the viewers' packages
    field = browser.page.find_element("css selector", ".timeline input[type=search]")
    field.send_keys("ProfilerStep#400", Keys.ENTER)
    canvas = browser.page.find_element("id", "timeline-canvas")
    canvas.send_keys("f")
    field.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE)  # and its colour
    canvas.send_keys("m")
    browser.wait("its sums", lambda page: "Selected" in page.find_element("css selector", "#interval h2").text)
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)


VIEWS = {
    "summary": None,
    "timeline": show_a_step,
    "flame": None,
    "operations": None,
    "functions": None,
    "waits": None,
    "memory": None,
    "diff": None,
}


def draw(browser, page, view, act):
    browser.open("about:blank")
    browser.open(f"{page.resolve().as_uri()}#v={view}")
    browser.wait("the page",
                 lambda page: page.execute_script("return document.documentElement.dataset.ready === 'yes'"))
    shown = browser.page.execute_script("return document.querySelector('[role=tab][aria-selected=true]').id")
    if shown != f"tab-{view}":
        sys.exit(f"the page has no view {view}")
    if act:
        act(browser)
    # A frame in which all is drawn.
    browser.page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return browser.page.get_screenshot_as_png()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from tests.e2e.consumers import viewers
    viewers.use()
    from PIL import Image
    from tests.e2e.consumers.browser import Browser
    with tempfile.TemporaryDirectory(prefix="kymo-") as scratch, Browser(WIDTH, HEIGHT) as browser:
        one, larger, both = (pathlib.Path(scratch) / name for name in ("one", "larger", "both"))
        copy_programs(one.parent)
        record(one)
        record(larger, "--hidden=192")
        compare(both, one, larger)
        browser.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
        for view, act in VIEWS.items():
            png = draw(browser, (both if view == "diff" else one) / "report.html", view, act)
            picture = Image.open(io.BytesIO(png)).convert("RGB")
            path = args.folder / f"page_{view}.png"
            picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
