"""Every JSON that the command writes, under a strict parser."""

import pathlib
import subprocess
import tempfile
import unittest

from tests.e2e.consumers import recorded
from tests.e2e.consumers import strict_json

FLAGS = ("--profile_memory", "--record_shapes", "--with_stack",
         "--with_flops")


class StrictJsonTest(unittest.TestCase):

    def test_refuses_what_is_not_json(self):
        for data in (b'{"a":NaN}', b"[Infinity]", b"[1,]", b'{"a":1,"a":2}',
                     b'["\xff"]', b'["\\ud800"]', b"[1e999]", b"\xef\xbb\xbf1",
                     b'["\n"]', b"", b"01", b"{} {}"):
            with self.assertRaises(ValueError, msg=data):
                strict_json.parse(data)

    def test_takes_what_is_json(self):
        self.assertEqual(
            strict_json.parse(b'{"a":[1,-2.5e3,"\\ud83d\\ude00",null]}'),
            {"a": [1, -2500.0, "\U0001f600", None]})


class OutputTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "out"

    def json_files(self):
        return sorted(path for path in self.folder.rglob("*")
                      if path.name.endswith((".json", ".json.gz")))

    def exporters(self):
        """Names of every exporter that the command knows."""
        manual = subprocess.run([recorded.PROFILE, "--help=all"],
                                capture_output=True, text=True, check=True)
        section = manual.stdout.split("\nEXPORTERS\n")[1].split("\n\n")[0]
        return [line.split()[0] for line in section.split("\n")
                if line.startswith("    ") and line[4] != " "]

    def test_every_exporter(self):
        exporters = self.exporters()
        self.assertIn("chrome", exporters)
        # Larger files than --max_size would be compressed.
        recorded.record(self.folder, f"--export={','.join(exporters)}",
                        "--max_size=0", *FLAGS, with_libraries=True)
        names = {path.name for path in self.json_files()}
        self.assertLessEqual(
            {"summary.json", "trace.json", "stacks.speedscope.json"}, names)
        for path in self.json_files():
            with self.subTest(path.name):
                self.assertTrue(strict_json.load(path))

    def test_compressed(self):
        recorded.record(self.folder, "--export=chrome", "--gzip", *FLAGS)
        trace = strict_json.load(self.folder / "trace.json.gz")
        self.assertTrue(trace["traceEvents"])


if __name__ == "__main__":
    unittest.main()
