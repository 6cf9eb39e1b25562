#!/usr/bin/env python3
"""Measures report.html in headless Chromium: how large, how fast.

    ./bazelw build //tools:profile //tools:report
    tests/benchmarks/page_speed.py [--ranges=1000000] [--threads=4] [--opens=5]

Makes a trace of ranges as //exporters/html:html_benchmark does (an operation
with two ranges inside, 60 names, about 2 us each), exports it with
bazel-bin/tools/report, and opens the page at its timeline from a file://
address. Printed are medians, each with the least and the most:

- opened: from the start of the navigation until the first picture is drawn
- frame: CPU time of the page's main thread for a frame while the view moves
  (script, style, paint), where 70 % of the time are visible
- nothing moves: the same without a move, which is what measuring takes
- added to true: CPU time of `profile -- true` with the page, less that without
  it, of runs that take turns

It takes Chromium and the Python packages of tests/e2e/consumers, which
`./bazelw test` installs.
"""

import argparse
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "bazel-bin/tools/profile"
REPORT = ROOT / "bazel-bin/tools/report"
FRAMES = 60
TURNS = 100

NOTE_FIRST_PICTURE = """
new MutationObserver(() => {
  if (document.documentElement.dataset.ready !== "yes" || window.firstPicture)
    return;
  // The timeline draws in the next frame; after it comes another one.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    window.firstPicture = performance.now();
  }));
}).observe(document, { attributes: true, subtree: true });
"""

MOVE = """
const [key, done] = arguments;
if (key) {
  document.getElementById("timeline-canvas").dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true }));
}
requestAnimationFrame(() => requestAnimationFrame(() => done()));
"""


def write_trace(path, ranges, threads):
    noise = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [{"ph": "M", "name": "process_name", '
                   '"pid": 1, "args": {"name": "app"}}')

        def add(name, thread, begin_ns, ns):
            file.write(f',\n{{"ph":"X","cat":"cpu_op","pid":1,"tid":{thread},'
                       f'"name":"{name}","ts":{begin_ns / 1000:.3f},'
                       f'"dur":{ns / 1000:.3f}}}')

        for thread in range(1, threads + 1):
            now = 0
            for _ in range(ranges // (3 * threads)):
                name = f"ns::operation_{noise.randrange(20)}"
                first = 200 + noise.randrange(1500)
                second = 200 + noise.randrange(1500)
                add(name, thread, now, first + second + 600)
                add(name + "::first", thread, now + 100, first)
                add(name + "::second", thread, now + 300 + first, second)
                now += first + second + 700 + noise.randrange(1000)
        file.write("\n]}\n")


def export(folder, args):
    trace = folder / "trace.json"
    write_trace(trace, args.ranges, args.threads)
    # It says on standard error what the page leaves out.
    subprocess.run([REPORT, "--export=html", f"--output_dir={folder}", trace],
                   check=True, stdout=subprocess.DEVNULL)
    trace.unlink()
    return folder / "report.html"


def show(name, values):
    print(f"{name + ':':15} {statistics.median(values):,.1f} ms "
          f"({min(values):,.1f} to {max(values):,.1f})")


def task_ms(page):
    metrics = page.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * next(one["value"] for one in metrics
                       if one["name"] == "TaskDuration")


def profile_ms(folder, exporters):
    """CPU time of a run with these exporters."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROFILE, "--quiet", f"--export={exporters}",
                    f"--output_dir={folder}", "/bin/true"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime -
                   before.ru_stime)


def measure_true(folder):
    show("added to true", [
        -profile_ms(folder, "chrome,stacks") +
        profile_ms(folder, "chrome,html,stacks") for _ in range(TURNS)])


def measure(path, opens):
    from tests.e2e.consumers.browser import Browser
    opened = []
    with Browser() as browser:
        page = browser.page
        page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                             {"source": NOTE_FIRST_PICTURE})
        page.execute_cdp_cmd("Performance.enable",
                             {"timeDomain": "threadTicks"})
        page.set_script_timeout(60)
        for _ in range(opens):
            page.get("about:blank")
            page.get(path.resolve().as_uri() + "#v=timeline")
            opened.append(browser.wait("a picture", lambda page:
                                       page.execute_script(
                                           "return window.firstPicture")))
            # Sums of the whole time, which nobody waits for.
            browser.wait("the sums", lambda page: page.execute_script(
                "return document.querySelector('#interval h2') !== null"))
        page.execute_async_script(MOVE, "w")
        def frame_ms(key):
            before = task_ms(page)
            page.execute_async_script(MOVE, key)
            return task_ms(page) - before

        frames = [frame_ms("da"[frame % 2]) for frame in range(FRAMES)]
        still = [frame_ms("") for _ in range(FRAMES)]
        if browser.errors():
            sys.exit(f"the page says {browser.errors()}")
    show("opened", opened)
    show("frame", frames)
    show("nothing moves", still)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ranges", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--opens", type=int, default=5)
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from tests.e2e.consumers import viewers
    viewers.use()
    with tempfile.TemporaryDirectory() as scratch:
        path = export(pathlib.Path(scratch), args)
        print(f"{'file:':15} {path.stat().st_size / 1e6:.2f} MB")
        measure(path, args.opens)
        measure_true(pathlib.Path(scratch) / "true")


if __name__ == "__main__":
    main()
