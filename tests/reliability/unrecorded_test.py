"""Programs that take nothing preloaded are counted, and named with the reason.

They run all the same, in whatever way they are started.
"""

import ctypes
import errno
import json
import os
import shutil
import subprocess
import tempfile
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
SCENARIO = os.path.abspath(os.environ["KYMO_SCENARIO"])
STARTER = os.path.abspath(os.environ["KYMO_STARTER"])
STATIC = os.path.abspath(os.environ["KYMO_STATIC"])
NOBODY = 65534
PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def read_as_others_do():
    """In a child before its exec: root, too, may read what modes permit."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


class UnrecordedTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)

    def copy(self, program, name):
        path = os.path.join(self.folder, name)
        shutil.copy(program, path)
        os.chmod(path, 0o755)
        return path

    def profile(self, *words, flags=(), status=0):
        """What it says, how many were lost, and ranges by name."""
        completed = subprocess.run(
            [PROFILE, "--activities=cpu", "--export=chrome",
             f"--output_dir={self.folder}/out", *flags, *words],
            capture_output=True, timeout=60, check=False, encoding="utf-8")
        self.assertEqual(completed.returncode, status, completed.stderr)
        with open(f"{self.folder}/out/summary.json",
                  encoding="utf-8") as file:
            summary = json.load(file)
        self.ledger = {e["name"]: e["count"] for e in summary["ledger"]}
        self.ranges = {r["name"]: r["count"] for r in summary["key_averages"]}
        self.stdout = completed.stdout
        return completed.stderr, self.ledger["processes_not_recorded"]

    def start_in_each_way(self, name, *arguments):
        says, lost = self.profile(STARTER, self.folder, name, *arguments)
        ways = dict(line.split("\t") for line in self.stdout.splitlines())
        self.assertEqual(len(ways), 11, ways)
        return says, lost, ways

    def test_static_children_however_they_are_started(self):
        self.copy(STATIC, "static")
        says, lost, ways = self.start_in_each_way("static")
        self.assertEqual(set(ways.values()), {"0"}, ways)
        self.assertEqual(lost, len(ways), says)
        self.assertIn("static was not recorded (", says)
        self.assertIn("it is statically linked", says)

    def test_recorded_children_however_they_are_started(self):
        self.copy(SCENARIO, "scenario")
        says, lost, ways = self.start_in_each_way("scenario", "leaf", "10")
        self.assertEqual(set(ways.values()), {"0"}, ways)
        self.assertEqual(lost, 0, says)
        self.assertEqual(self.ranges["leaf"], 10 * len(ways))

    def test_programs_that_cannot_be_run_are_not_counted(self):
        says, lost, ways = self.start_in_each_way("nothing")
        no_file = {str(1000 + errno.ENOENT)}
        # What it was to open is not there, so there is nothing to run.
        ways.pop("fexecve")
        self.assertEqual(set(ways.values()), no_file, ways)
        self.assertEqual(lost, 0, says)

    def test_set_uid_child(self):
        path = self.copy(shutil.which("true"), "set_uid")
        try:
            os.chown(path, NOBODY, NOBODY)
        except PermissionError:
            self.skipTest("NOT TESTED HERE: needs root")
        os.chmod(path, 0o4755)
        if os.statvfs(path).f_flag & os.ST_NOSUID:
            self.skipTest("NOT TESTED HERE: mounted nosuid")
        says, lost = self.profile("sh", "-c", f"{path}; :")
        self.assertEqual(lost, 1, says)
        self.assertIn(f"{path} was not recorded: it is set-uid", says)

    def test_child_that_its_user_may_not_read(self):
        path = self.copy(SCENARIO, "hidden")
        os.chmod(path, 0o111)
        if subprocess.run(["cat", path], capture_output=True, check=False,
                          preexec_fn=read_as_others_do).returncode == 0:
            self.skipTest("NOT TESTED HERE: this user may read everything")
        completed = subprocess.run(
            [PROFILE, "--activities=cpu,sampling", "--sampling_sampler=perf",
             "--strict", f"--output_dir={self.folder}/out",
             "sh", "-c", f"{path} leaf 10; {path} leaf 20; :"],
            capture_output=True, timeout=60, check=False, encoding="utf-8",
            preexec_fn=read_as_others_do)
        says = completed.stderr
        if completed.returncode == 1 and "perf_event_open" in says:
            self.skipTest(f"NOT TESTED HERE: {says}")
        self.assertEqual(completed.returncode, 3, says)
        with open(f"{self.folder}/out/summary.json",
                  encoding="utf-8") as file:
            summary = json.load(file)
        ledger = {e["name"]: e["count"] for e in summary["ledger"]}
        self.assertEqual(ledger["processes_not_recorded"], 2, says)
        self.assertIn("sampling: hidden (2 times): neither samples nor", says)
        self.assertIn("chmod +r", says)
        ranges = {r["name"]: r["count"] for r in summary["key_averages"]}
        self.assertEqual(ranges["leaf"], 30)

    def test_script_of_a_static_interpreter(self):
        static = self.copy(STATIC, "static")
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!{static}\n")
        os.chmod(script, 0o755)
        says, lost = self.profile("sh", "-c", f"{script}; :")
        self.assertEqual(lost, 1, says)
        self.assertIn(f"it is run by {static}, which is statically linked",
                      says)

    def test_child_that_lost_its_environment(self):
        says, lost = self.profile("env", "-i", "/bin/true")
        self.assertEqual(lost, 1, says)
        self.assertIn("/bin/true was not recorded: it was started without "
                      "Kymo's runtime in LD_PRELOAD", says)

    def test_child_that_lost_the_arena(self):
        says, lost = self.profile("env", "-u", "KYMO_ARENA", "/bin/true")
        self.assertEqual(lost, 1, says)
        self.assertIn("/bin/true was not recorded: it was started without "
                      "KYMO_ARENA in its environment", says)

    def test_child_without_address_space(self):
        says, lost = self.profile("bash", "-c",
                                  "ulimit -v 200000; exec /bin/true")
        self.assertEqual(lost, 1, says)
        self.assertIn("/bin/true was not recorded: it", says)
        self.assertIn("address space for the records (ulimit -v)", says)

    def test_child_in_a_container(self):
        space = ["unshare", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*space, "true"], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("NOT TESTED HERE: no name space can be made")
        says, lost = self.profile(*space, SCENARIO, "leaf", "10")
        self.assertEqual(lost, 1, says)
        self.assertIn("does not see /proc of this command", says)
        self.assertNotIn("leaf", self.ranges)

    def test_static_target(self):
        says, lost = self.profile(STATIC, flags=("--strict",), status=3)
        self.assertEqual(lost, 1, says)
        self.assertIn("it is statically linked", says)

    def test_exec_ends_what_was_open(self):
        says, lost = self.profile(SCENARIO, "become", "10")
        self.assertEqual(lost, 0, says)
        self.assertEqual(self.ranges, {"before exec": 1, "leaf": 10})
        self.assertEqual(self.ledger["ranges_open_at_end"], 1)
        with open(f"{self.folder}/out/trace.json", encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"]
                      if e["ph"] == "X"]
        before = next(e for e in events if e["name"] == "before exec")
        first = min(float(e["ts"]) for e in events if e["name"] == "leaf")
        self.assertLessEqual(float(before["ts"]) + float(before["dur"]), first)


if __name__ == "__main__":
    unittest.main()
