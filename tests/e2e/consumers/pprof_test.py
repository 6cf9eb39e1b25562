"""Go's pprof on Kymo's profiles: its tables, and its flame graph in a browser."""

import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from selenium.webdriver.common.by import By

from tests.e2e.consumers import recorded
from tests.e2e.consumers.browser import Browser
from tests.e2e.consumers.browser import coloured

START_SECONDS = 30


def environment(folder):
    return dict(os.environ, HOME=str(folder), PPROF_TMPDIR=str(folder))


class WebInterface:
    """`go tool pprof -http` on a profile."""

    def __init__(self, path, scratch):
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            ["go", "tool", "pprof", "-http=127.0.0.1:", "-no_browser",
             str(path)],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            env=environment(scratch), start_new_session=True)

    def __enter__(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            text = os.pread(self._log.fileno(), 10_000, 0).decode()
            found = re.search(r"http://127\.0\.0\.1:\d+", text)
            if found:
                return found[0]
            time.sleep(0.1)
        self.__exit__()
        raise AssertionError(f"pprof did not serve: {text}")

    def __exit__(self, *_):
        # `go` itself only waits for pprof.
        os.killpg(self._process.pid, 9)
        self._process.wait()
        self._log.close()


class PprofTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.recorded = recorded.record(
            cls.scratch / "out", "--export=stacks", "--profile_memory",
            activities="cpu,sampling", with_libraries=True)

    def top(self, file, sample_type, unit):
        """The total, and what each function took itself."""
        completed = subprocess.run(
            ["go", "tool", "pprof", "-top", "-nodefraction=0", f"-unit={unit}",
             f"-sample_index={sample_type}", str(self.recorded.path(file))],
            capture_output=True, text=True, env=environment(self.scratch),
            timeout=60, check=False)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        total = re.search(rf"Total samples = (\d+){unit}", completed.stdout)
        rows = re.findall(rf"^ *(\d+){unit} .*%  (.+)$", completed.stdout,
                          re.MULTILINE)
        return int(total[1]), {name: int(flat) for flat, name in rows
                               if int(flat)}

    def by_row(self, functions):
        """Sums by the name that the averages file a range under."""
        sums = {}
        for name, value in functions.items():
            row = recorded.STEPS if name.startswith("ProfilerStep#") else name
            sums[row] = sums.get(row, 0) + value
        return sums

    def test_operations(self):
        rows = self.recorded.rows
        _, counts = self.top("stacks.pb.gz", "operations", "ns")
        self.assertEqual(self.by_row(counts),
                         {name: row["count"] for name, row in rows.items()})

    def test_self_times(self):
        rows = self.recorded.rows
        total, times = self.top("stacks.pb.gz", "self_time", "ns")
        self.assertEqual(
            self.by_row(times),
            {name: row["self_cpu_time_total_ns"] for name, row in rows.items()})
        self.assertEqual(total, sum(times.values()))

    def test_samples(self):
        totals = self.recorded.summary["totals"]
        self.assertEqual(self.top("stacks.pb.gz", "samples", "ns")[0],
                         totals["samples"])
        total, functions = self.top("stacks.pb.gz", "cpu", "ns")
        self.assertEqual(total, totals["sampled_ns"])
        self.assertIn("MultiplyTile", functions)

    def test_memory(self):
        totals = self.recorded.summary["memory"]["pools"][0]["totals"]
        for sample_type, expected in (
            ("alloc_objects", totals["allocations"]),
            ("alloc_space", totals["allocated_bytes"]),
            ("inuse_objects", totals["allocations"] - totals["frees"]),
            ("inuse_space", totals["alive_bytes"])):
            with self.subTest(sample_type):
                self.assertEqual(
                    self.top("stacks.memory.pb.gz", sample_type, "B")[0],
                    expected)

    def test_flame_graph(self):
        profile = self.recorded.path("stacks.pb.gz")
        with WebInterface(profile, self.scratch) as url, Browser() as browser:
            browser.open(f"{url}/ui/flamegraph?si=cpu")
            # The second names are those of Go 1.20 and later.
            browser.wait("the functions of the program", lambda page: [
                frame for frame in page.find_elements(
                    By.CSS_SELECTOR, ".d3-flame-graph-label, .boxtext")
                if frame.text == "main"])
            browser.wait_until_drawn(
                "the flame graph",
                lambda page: page.find_element(
                    By.CSS_SELECTOR, "#chart, #stack-chart"), share=0.1,
                is_counted=coloured)
            browser.keep("flame_graph")
            # /ui/ is the graph's page, which asks for Graphviz.
            self.assertEqual([error for error in browser.errors()
                              if not error.startswith(f"{url}/ui/ ")], [])


if __name__ == "__main__":
    unittest.main()
