"""`kymo gate` from end to end: it finds what //tests/gate:planted plants."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

KYMO = os.path.abspath(os.environ["KYMO"])
PLANTED = os.path.abspath(os.environ["KYMO_PLANTED"])
RECORDER = os.path.abspath(os.environ["KYMO_RECORDER"])


class GateTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.budget = self.folder / "x.budget.textproto"

    def gate(self, kind, *flags):
        command = [PLANTED, kind] if kind else ["/bin/true"]
        return self.run_gate(*flags, "--", *command)

    def words(self, *words):
        return [KYMO, "gate", f"--budget={self.budget}",
                f"--output_dir={self.folder}/out", *words]

    def run_gate(self, *words):
        done = subprocess.run(self.words(*words), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, text=True)
        return done.returncode, done.stdout, done.stderr

    def over(self, kind):
        """The lines that are over the budget."""
        status, out, err = self.gate(kind)
        self.assertEqual(status, 4, err)
        return [line.rsplit(": ", 1)[0].split("  ")[-1] for line in out.splitlines()
                if line.startswith("OVER")]

    def test_planted_regressions_are_found(self):
        status, _, err = self.gate("none", "--update")
        self.assertEqual(status, 0, err)
        with self.budget.open("a", encoding="utf-8") as budget:
            budget.write('line { what: ALLOCATIONS of: "operation 7" expect: 0 }')
        xml = self.folder / "x.xml"
        status, out, err = self.gate("none", f"--xml={xml}")
        self.assertEqual((status, "OVER" in out), (0, False), out + err)
        suite = ElementTree.parse(xml).getroot()
        self.assertEqual(int(suite.get("tests")),
                         self.budget.read_text().count("line {"))
        self.assertEqual(suite.get("failures"), "0")
        self.assertEqual(self.over("call"), ["CALLS", "CALLS of operation 7"])
        over = self.over("allocations")
        self.assertIn("ALLOCATIONS", over)
        self.assertIn("ALLOCATIONS of operation 7", over)
        self.assertIn("PEAK_BYTES", self.over("peak"))
        self.assertIn("BLOCKING_CALLS", self.over("blocking"))
        self.assertTrue((self.folder / "out/report.html").exists())

    def test_nothing_is_an_amount_and_budgets_keep_their_form(self):
        real = self.folder / "real.textproto"
        real.write_text("# What true takes.", encoding="utf-8")
        real.chmod(0o640)
        self.budget.symlink_to(real)
        status, _, err = self.gate(None, "--update")
        self.assertEqual(status, 0, err)
        self.assertEqual(real.stat().st_mode & 0o777, 0o640)
        self.assertTrue(self.budget.is_symlink())
        text = real.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# What true takes.\nline {"), text)
        self.assertIn("line { what: ALLOCATIONS expect: 0 }\n", text)
        self.assertEqual(self.gate(None)[0], 0)
        real.write_text('line { what: CALLS of: "operatoin 7" expect: 1 }')
        status, _, err = self.gate("none")
        self.assertEqual(status, 2)
        self.assertIn("the program has no CALLS of operatoin 7; it has 50: "
                      "operation 0, operation 1, ", err)
        self.assertIn("did you mean operation 7?", err)

    def test_ranges_take_nothing(self):
        """What a session takes does not grow with its ranges, by not even one."""
        status, _, err = self.run_gate("--update", "--", RECORDER, "1")
        self.assertEqual(status, 0, err)
        lines = [line for line in self.budget.read_text().splitlines()
                 if line.split()[3] in ("ALLOCATIONS", "BLOCKING_CALLS",
                                        "FILES_OPENED", "BYTES_WRITTEN")]
        self.assertEqual(len(lines), 4)
        self.assertNotIn("advisory", "".join(lines))
        self.budget.write_text("\n".join(lines))
        status, out, err = self.run_gate("--", RECORDER, "100000")
        self.assertEqual(status, 0, out + err)

    def test_programs_get_pipes_whatever_the_gate_has(self):
        self.budget.write_text("line { what: FILES_OPENED expect: 1000 }")
        program = ("[ -p /dev/stdout ] && [ -p /dev/stderr ] && echo said && "
                   "[ ! -t 0 ]")
        with open(self.folder / "out.txt", "w+", encoding="utf-8") as out:
            status = subprocess.call(self.words("--", "/bin/sh", "-c", program),
                                     stdout=out, stderr=out)
            self.assertEqual(status, 0)
            out.seek(0)
            self.assertTrue(out.read().startswith("said\nsaid\nbetter"))

    def test_a_killed_gate_leaves_nothing(self):
        self.budget.write_text("line { what: FILES_OPENED expect: 1000 }")
        pid = self.folder / "pid"
        gate = subprocess.Popen(self.words(
            "--", "/bin/sh", "-c", f"echo $$ > {pid}.new && mv {pid}.new {pid}"
            " && exec sleep 1000"))
        while not pid.exists():
            time.sleep(0.01)
        gate.kill()
        gate.wait()
        program = pathlib.Path("/proc", pid.read_text().strip(), "exe")
        while program.exists():
            time.sleep(0.01)

    def test_errors_come_before_the_runs(self):
        ran = self.folder / "ran"
        program = ("--", "/usr/bin/touch", str(ran))
        self.budget.symlink_to(self.budget.name)
        for update in ((), ("--update",)):
            status, _, err = self.run_gate(*update, *program)
            self.assertEqual(status, 2)
            self.assertIn("Too many levels of symbolic links", err)
        self.budget.unlink()
        self.budget.write_text("line {")
        self.assertEqual(self.run_gate("--update", *program)[0], 2)
        self.budget = self.folder / "none" / "x.textproto"
        self.assertEqual(self.run_gate("--update", *program)[0], 2)
        self.assertFalse(ran.exists())
        status, _, err = self.run_gate(PLANTED)
        self.assertEqual(status, 2)
        self.assertIn(f"gate --budget={self.budget} -- {PLANTED}", err)
        status, _, err = self.run_gate("trace.json", *program)
        self.assertIn("'trace.json' stands before --", err)

    def test_the_folder_of_a_run_is_a_recording(self):
        run = self.folder / "run"
        run.mkdir()
        text = json.dumps({"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "work", "pid": 1, "tid": 1,
             "ts": 1, "dur": 2}]})
        (run / "trace.json").write_text(text)
        for calls, status in ((1, 0), (0, 4)):
            self.budget.write_text(
                f'line {{ what: CALLS of: "work" expect: {calls} }}')
            of_folder = self.run_gate(run)
            self.assertEqual(of_folder[0], status, of_folder)
            self.assertEqual(self.run_gate(run / "trace.json"), of_folder)
        self.assertIn(f"over the budget; {self.folder}/out/budget.txt has",
                      of_folder[2])
        (run / "trace.json").unlink()
        status, _, err = self.run_gate(run)
        self.assertEqual(status, 2)
        self.assertIn("has no trace.json, kymo.raw,", err)
        for rank in (0, 1):
            (run / f"host.{rank}.pt.trace.json").write_text(text)
        status, _, err = self.run_gate(run)
        self.assertEqual(status, 2)
        self.assertIn("has several traces: name one", err)

    def test_an_error_leaves_no_empty_folder(self):
        trace = self.folder / "trace.json"
        trace.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "work", "pid": 1, "tid": 1,
             "ts": 1, "dur": 2}]}))
        for name, status, folders in (("play", 2, 0), ("work", 0, 1)):
            self.budget.write_text(
                f'line {{ what: CALLS of: "{name}" expect: 1 }}')
            done = subprocess.run(
                [KYMO, "gate", f"--budget={self.budget}", trace],
                cwd=self.folder, capture_output=True, check=False, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            made = list((self.folder / "kymo-out").iterdir())
            self.assertEqual(len(made), folders)

    def test_the_recorder_answers_for_itself(self):
        self.budget.write_text("line { what: LEAKS expect: 0 }")
        _, _, err = self.run_gate("--", "/bin/sh", "-c", "exit 3")
        self.assertIn("/bin/sh ended with status 3", err)
        _, _, err = self.run_gate("--", "/no/such")
        self.assertIn("/no/such could not be recorded: kymo profile ended with "
                      "status 127", err)


if __name__ == "__main__":
    unittest.main()
