"""What the tests of //tools:report share."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
TESTDATA = pathlib.Path("tests/conformance/testdata").resolve()

# A process of its own: the peak of a child counts what its parent had.
MEASURE = """
import resource, subprocess, sys
returncode = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(end=f"{returncode} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
"""


class ReportTestCase(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, trace):
        """`trace`: events, a document, or text as it stands."""
        path = self.path(name)
        if not isinstance(trace, str):
            trace = json.dumps(trace)
        with open(path, "w", encoding="utf-8") as file:
            file.write(trace)
        return path

    def report(self, *words, status=0):
        completed = subprocess.run(
            [REPORT, *words], capture_output=True, timeout=120, check=False,
            cwd=self.folder.name, encoding="utf-8")
        self.assertEqual(completed.returncode, status,
                         completed.stdout + completed.stderr)
        return completed

    def measure(self, *words, status=0):
        """(output, CPU seconds, most bytes of memory)"""
        completed = subprocess.run(
            [sys.executable, "-c", MEASURE, REPORT, *words],
            stdout=subprocess.PIPE, timeout=120, check=True, text=True)
        out, numbers = completed.stdout.rsplit("\n", 1)
        returncode, seconds, peak_kib = numbers.split()
        self.assertEqual(int(returncode), status, out)
        return out, float(seconds), int(peak_kib) * 1024


def op(name, begin_us, dur_us, pid=1, tid=1, **more):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": tid,
            "ts": begin_us, "dur": dur_us, **more}
