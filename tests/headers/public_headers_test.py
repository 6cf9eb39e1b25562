"""Holds profiler/api/README.md and the examples of headers to the headers."""

import os
import re
import unittest

from tests.headers import make_examples

API = "profiler/api"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rows():
    """The rows of the README's table: (question, header, target)."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in read(f"{API}/README.md").splitlines()
             if line.startswith("|")]
    return cells[2:]


class IndexTest(unittest.TestCase):

    def test_lists_every_public_header(self):
        headers = {name for name in os.listdir(API) if name.endswith(".h")}
        listed = {header.strip("`") for _, header, _ in rows()
                  if header.startswith("`")}
        self.assertGreater(len(headers), 20)
        self.assertEqual(headers, listed)

    def test_names_targets_that_exist(self):
        targets = set(re.findall(r'^    name = "(\w+)",$', read("BUILD.bazel"),
                                 re.M))
        for question, _, target in rows():
            self.assertRegex(target, r"^`//:\w+`$", question)
            self.assertIn(target.strip("`")[len("//:"):], targets, question)


class ExamplesTest(unittest.TestCase):

    def test_every_public_header_has_an_example_that_is_compiled(self):
        source = read("tests/headers/header_examples.cc")
        for name in os.listdir(API):
            if name.endswith(".h"):
                self.assertIn(f'#include "kymo/{name}"\n', source)
                self.assertRegex(source, rf'#line \d+ "{API}/{name}"')


class MakeExamplesTest(unittest.TestCase):

    def source(self, *comment):
        return make_examples.examples_source(
            [("profiler/api/x.h", "\n".join(comment) + "\n#ifndef X\n")])

    def test_block_becomes_the_body_of_a_function(self):
        source = self.source("// x.h - x.", "//", "//   int i = 1;", "//",
                             "//     Use(i);", "//", "// Threads: any.",
                             "//   A paragraph that hangs.")
        self.assertEqual(source.splitlines(), [
            "", '#include "kymo/x.h"', "namespace example_1 {",
            "auto Example() {", '#line 3 "profiler/api/x.h"', "int i = 1;", "",
            "  Use(i);", "}", "}  // namespace example_1",
            '#line 1 "header_examples.cc"'])

    def test_block_stands_at_namespace_scope_where_the_text_says_so(self):
        source = self.source("// x.h - x.", "// Write, at namespace scope:",
                             "//", "//   void F() {}")
        self.assertNotIn("Example()", source)
        self.assertIn("\nvoid F() {}\n", source)

    def test_comment_may_be_a_block(self):
        source = self.source("/* x.h - x.", " *", " *   F();", " *",
                             " * Threads: any.", " */", "/* More.", " *",
                             " *   G();", " */")
        self.assertIn('#line 3 "profiler/api/x.h"\nF();\n}', source)
        self.assertNotIn("G()", source)

    def test_includes_move_out_and_lines_keep_their_numbers(self):
        source = self.source("// x.h - x.", "//", '//   #include "y.h"',
                             "//   F();")
        self.assertLess(source.index('#include "y.h"'),
                        source.index("namespace"))
        self.assertIn('#line 3 "profiler/api/x.h"\n\nF();\n', source)

    def test_tables_and_commands_are_no_code(self):
        source = self.source("// x.h - x.", "//", "//   F();", "//", "// Table:",
                             "//", "//   | a  b", "//   | 1  2", "//", "// Run:",
                             "//", "//   $ ls", "//", "// End.")
        self.assertNotIn("a  b", source)
        self.assertNotIn("ls", source)

    def test_header_without_an_example_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "x.h: .* no example"):
            self.source("// x.h - x.", "//", "//   | a table")


if __name__ == "__main__":
    unittest.main()
