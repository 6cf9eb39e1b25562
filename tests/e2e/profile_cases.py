"""What the tests of the command share: how they run it, and what it left."""

import collections
import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
TRAIN_MLP = os.path.abspath(os.environ["KYMO_TRAIN_MLP"])
BURN = os.path.abspath(os.environ["KYMO_BURN"])
STATIC = os.path.abspath(os.environ["KYMO_STATIC"])

NANOSECONDS_PER_US = 1000


def reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def load_json(path):
    """Strict: no NaN, no infinities."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_constant=reject_constant)


def to_ns(text):
    """Microseconds with three decimals, exactly."""
    return round(text * NANOSECONDS_PER_US)


class Result:
    """What one run of the command left."""

    def __init__(self, completed, out):
        self.status = completed.returncode
        self.stdout = completed.stdout
        self.stderr = completed.stderr.decode(errors="replace")
        self.out = pathlib.Path(out)

    @property
    def trace(self):
        # The timeline of millions of ranges is compressed.
        path = self.out / "trace.json.gz"
        return load_json(path if path.exists() else self.out / "trace.json")

    @property
    def summary(self):
        return load_json(self.out / "summary.json")

    @property
    def table(self):
        return (self.out / "key_averages.txt").read_text(encoding="utf-8")

    @property
    def counts(self):
        return {
            row["name"]: row["count"] for row in self.summary["key_averages"]
        }

    @property
    def losses(self):
        return {
            entry["name"]: entry["count"]
            for entry in self.summary["ledger"]
            if entry["count"]
        }

    def slices(self):
        return [e for e in self.trace["traceEvents"] if e["ph"] == "X"]


KEEP_RAW = ("--activities=cpu", "--cpu_keep_raw")


class ProfileTestCase(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runs = 0

    def command(self, *words, flags=()):
        self.runs += 1
        out = os.path.join(self.folder.name, f"out{self.runs}")
        return [PROFILE, f"--output_dir={out}", *flags, *words], out

    def profile(self, *words, flags=("--activities=cpu",), **options):
        command, out = self.command(*words, flags=flags)
        options.setdefault("cwd", self.folder.name)
        completed = subprocess.run(
            command, capture_output=True, timeout=300, check=False, **options)
        return Result(completed, out)

    def assert_nested(self, slices):
        """On every track: slices are nested or apart."""
        tracks = collections.defaultdict(list)
        for event in slices:
            begin = to_ns(event["ts"])
            tracks[event["pid"], event["tid"]].append(
                (begin, begin + to_ns(event["dur"])))
        for track, spans in tracks.items():
            stack = []
            for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
                while stack and stack[-1] <= begin:
                    stack.pop()
                if stack:
                    self.assertLessEqual(end, stack[-1], track)
                stack.append(end)
