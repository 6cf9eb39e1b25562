"""The command with a backend from a library: what it loads, refuses, writes."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
TICKS = "./" + os.environ["KYMO_TICKS"]
TICKS_TARGET = "./" + os.environ["KYMO_TICKS_TARGET"]
OTHER_VERSION = "./" + os.environ["KYMO_OTHER_VERSION"]


class BackendLibraryTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out"

    def profile(self, *words, expected_status=0):
        completed = subprocess.run(
            [PROFILE, f"--output_dir={self.out}", *words],
            capture_output=True,
            text=True,
            check=False)
        self.assertEqual(completed.returncode, expected_status,
                         completed.stderr)
        return completed

    def load(self, name):
        return json.loads((self.out / name).read_text(encoding="utf-8"))

    def test_its_records_are_in_the_files(self):
        done = self.profile(f"--activities=cpu,{TICKS}", "--ticks_every_ms=7",
                            TARGET, "ranges", "3")
        self.assertIn("recording cpu, nvtx, ticks", done.stderr)
        self.assertIn("ticks: ticks come every 7 ms", done.stderr)
        self.assertIn("ticks: the clock ticks\n", done.stderr)
        self.assertIn("lost 3 ticks that came too late (ticks_missed)",
                      done.stderr)
        trace = self.load("trace.json")
        self.assertEqual(
            trace["ticks_losses"], {
                "ticks_missed": {
                    "count": 3,
                    "text": "ticks that came too late"
                }
            })
        events = trace["traceEvents"]
        # The range also stands above the kernel that ran within it.
        by_name = {
            e["name"]: e
            for e in events
            if e.get("cat") != "gpu_user_annotation"
        }
        session = by_name["ticks_session"]
        self.assertEqual(session["cat"], "user_annotation")
        self.assertEqual(session["args"]["every_ms"], 7)
        self.assertGreater(session["args"]["polls"], 0)
        self.assertEqual(session["args"]["share"], 0.5)
        self.assertEqual(session["args"]["text"], "\ufffd!")
        self.assertEqual(by_name["ticks_kernel"]["cat"], "kernel")
        self.assertEqual(by_name["ticks_kernel"]["args"]["device"], 1)
        self.assertEqual(by_name["ticks_kernel"]["args"]["stream"], 3)
        self.assertEqual(by_name["ticks (per poll)"]["ph"], "C")
        # The kernel is linked to the range that launched it.
        self.assertEqual(
            {e["ph"] for e in events if e.get("cat") == "ac2g"}, {"s", "f"})
        # The target side was loaded into the program.
        self.assertEqual(by_name["ticks_target"]["pid"], session["pid"])
        self.assertFalse((self.out / "ticks.log").exists())

    def test_an_exporter_of_a_library_writes_its_file(self):
        self.profile(f"--activities=cpu,{TICKS}", f"--export=chrome,{TICKS}",
                     "--tick_names_end=,", TARGET, "ranges", "3")
        names = (self.out / "names.txt").read_text(encoding="utf-8").split(",")
        self.assertIn("ticks_session", names)
        recorded = ("cpu_op", "user_annotation", "gpu_user_annotation",
                    "cpu_instant_event", "cuda_runtime", "kernel")
        expected = [
            e["name"]
            for e in self.load("trace.json")["traceEvents"]
            if e.get("cat") in recorded
        ]
        self.assertEqual(sorted(names[:-1]), sorted(expected))

    def test_what_it_loses_fails_strict(self):
        self.profile(f"--activities=cpu,{TICKS}", "--strict", TARGET, "ranges",
                     "3", expected_status=3)
        self.assertIn(
            "Lost: 3 backend_records_lost (records that a backend could not "
            "keep: of ticks, 3 ticks that came too late (ticks_missed))",
            (self.out / "key_averages.txt").read_text(encoding="utf-8"))
        row = next(e for e in self.load("summary.json")["ledger"]
                   if e["name"] == "backend_records_lost")
        self.assertEqual(row["count"], 3)
        self.assertTrue(row["is_loss"])
        self.assertIn("(ticks_missed)", row["meaning"])

    def test_list_and_help_show_it(self):
        listed = self.profile(f"--activities={TICKS}", "--list").stdout
        self.assertIn("ticks      available", listed)
        self.assertIn("ticks of a clock, for tests", listed)
        page = self.profile(f"--activities={TICKS}", "--help=ticks").stdout
        self.assertIn("--ticks_every_ms=N", page)
        self.assertIn("Time between two ticks.", page)

    def test_what_does_not_fit_is_refused_before_the_target_starts(self):
        for words, expected in (
            ((f"--activities={OTHER_VERSION}",),
             "was built for version 2.3 of the backend interface, and this "
             "Kymo has version 1.0; build it again"),
            ((f"--activities={TICKS_TARGET}",),
             "it lacks the function kymo_backend_plugin"),
            (("--activities=./none.so",), "./none.so"),
            (("--activities=ticks",), "there is no activity 'ticks'"),
            (("--ticks_every_ms=7",), "there is no flag --ticks_every_ms"),
            ((f"--activities={TICKS}", "--ticks_every_ms=0"),
             "it takes a whole number from 1 to 1000"),
        ):
            with self.subTest(words=words):
                done = self.profile(*words, TARGET, expected_status=2)
                self.assertIn(expected, done.stderr)
                self.assertFalse(self.out.exists())

    def test_wrong_records_are_counted(self):
        done = self.profile(f"--activities=cpu,{TICKS}", "--ticks_hostile",
                            "--strict", TARGET, "ranges", "3",
                            expected_status=3)
        self.assertIn(
            "ticks: 7 of its records cannot be used, because of an error in "
            "the backend: a record ends before it begins", done.stderr)
        ledger = {
            e["name"]: e["count"] for e in self.load("summary.json")["ledger"]
        }
        self.assertEqual(ledger["records_corrupt"], 7)

    def test_a_backend_that_fails_costs_only_its_records(self):
        for function in ("prepare", "start", "stop", "collect"):
            with self.subTest(function=function):
                done = self.profile(f"--activities=cpu,{TICKS}",
                                    f"--ticks_fails_in={function}", TARGET,
                                    "ranges", "3")
                self.assertIn(
                    f"backend ticks: {function} does not work; try "
                    "ticks_fails_in=none", done.stderr)
                names = {
                    e["name"] for e in self.load("trace.json")["traceEvents"]
                }
                self.assertNotIn("ticks_session", names)
        done = self.profile(f"--activities=cpu,{TICKS}",
                            "--ticks_fails_in=setup", TARGET, "ranges", "3")
        self.assertIn("sets the environment variable LD_PRELOAD", done.stderr)

    def test_what_is_named_must_be_available(self):
        done = self.profile(f"--activities=cpu,{TICKS}",
                            "--ticks_fails_in=availability",
                            TARGET,
                            expected_status=1)
        self.assertIn(
            "activity ticks: availability does not work; try "
            "ticks_fails_in=none", done.stderr)


if __name__ == "__main__":
    unittest.main()
