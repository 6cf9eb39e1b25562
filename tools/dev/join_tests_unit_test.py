"""Tests join_tests.py, which makes one source of tests from many."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from tools.build_defs import join_tests

SOURCE = """namespace kymo {{
namespace {{
int Answer() {{ return {answer}; }}
static_assert(sizeof(Answer()) == 4);
#if {answer} == 3
#error third
#endif
}}  // namespace
}}  // namespace kymo
"""


class JoinTestsTest(unittest.TestCase):

    def compiled(self, *answers):
        """What the compiler says of sources that name all alike."""
        with tempfile.TemporaryDirectory() as folder:
            sources = []
            for answer in answers:
                sources.append(os.path.join(folder, f"{answer}_test.cc"))
                with open(sources[-1], "w", encoding="utf-8") as file:
                    file.write(SOURCE.format(answer=answer))
            joined = os.path.join(folder, "unit_tests_test.cc")
            join_tests.main(joined, *sources)
            return subprocess.run(
                ["g++", "-std=c++20", "-fsyntax-only", joined],
                capture_output=True, text=True, check=False).stderr

    def test_each_source_keeps_its_names_for_itself(self):
        self.assertEqual(self.compiled(1, 2), "")

    def test_messages_name_the_sources_own_lines(self):
        self.assertIn("3_test.cc:6:2: error: #error third",
                      self.compiled(1, 3, 2))


if __name__ == "__main__":
    unittest.main()
