"""Every test that docs/reliability.md names exists."""

import os
import pathlib
import re
import unittest

DOCUMENT = pathlib.Path(os.environ["KYMO_DOCUMENT"]).resolve()
ROOT = DOCUMENT.parent.parent
PROMISE = re.compile(r"`([\w/.]+\.(?:cc|py)): (\w+)`")


class PromisesTest(unittest.TestCase):

    def test_the_tests_exist(self):
        named = PROMISE.findall(DOCUMENT.read_text(encoding="utf-8"))
        self.assertGreater(len(named), 30)
        for file, test in named:
            with self.subTest(file=file, test=test):
                definition = (rf"(?m)^ *(def {test}\(|"
                              rf"TEST(_[FP])?\(\w+,\s+{test}\))")
                self.assertTrue(
                    re.search(definition,
                              (ROOT / file).read_text(encoding="utf-8")))

    def test_every_promise_has_one(self):
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
            if line.startswith("| ") and "shown by" not in line:
                self.assertRegex(line, PROMISE)


if __name__ == "__main__":
    unittest.main()
