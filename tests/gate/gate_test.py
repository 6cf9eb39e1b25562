"""`kymo gate` from end to end: it finds what //tests/gate:planted plants."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

KYMO = os.path.abspath(os.environ["KYMO"])
PLANTED = os.path.abspath(os.environ["KYMO_PLANTED"])


class GateTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.budget = self.folder / "x.budget.textproto"

    def gate(self, kind, *flags):
        command = [PLANTED, kind] if kind else ["/bin/true"]
        done = subprocess.run(
            [KYMO, "gate", f"--budget={self.budget}",
             f"--output_dir={self.folder}/out", *flags, "--", *command],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            text=True)
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
        xml = self.folder / "x.xml"
        status, out, err = self.gate("none", f"--xml={xml}")
        self.assertEqual((status, "OVER" in out), (0, False), out + err)
        suite = ElementTree.parse(xml).getroot()
        self.assertEqual(int(suite.get("tests")),
                         self.budget.read_text().count("line {"))
        self.assertEqual(suite.get("failures"), "0")
        self.assertEqual(self.over("call"), ["CALLS of operation 7"])
        self.assertIn("ALLOCATIONS", self.over("allocations"))
        self.assertIn("PEAK_BYTES", self.over("peak"))
        self.assertIn("BLOCKING_CALLS", self.over("blocking"))
        self.assertTrue((self.folder / "out/report.html").exists())

    def test_nothing_is_an_amount_and_budgets_keep_their_form(self):
        real = self.folder / "real.textproto"
        real.write_text("# What true takes.", encoding="utf-8")
        self.budget.symlink_to(real)
        status, _, err = self.gate(None, "--update")
        self.assertEqual(status, 0, err)
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


if __name__ == "__main__":
    unittest.main()
