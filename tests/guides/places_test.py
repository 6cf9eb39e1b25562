"""The places that docs/add-a*.md name exist, and do what the pages say.

A page's table of places has paths in backticks. NAME in a path stands for the
name of what is added; it is tried with something that is there already.
"""

import os
import pathlib
import re
import unittest

ANALYSIS = pathlib.Path(os.environ["KYMO_ANALYSIS_GUIDE"]).resolve()
BACKEND = pathlib.Path(os.environ["KYMO_BACKEND_GUIDE"]).resolve()
EXPORTER = pathlib.Path(os.environ["KYMO_EXPORTER_GUIDE"]).resolve()
ROOT = ANALYSIS.parent.parent
PATH = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.\w+)`")


def rows_below(page, heading):
    """The rows of the first table below `heading`, without its two of head."""
    text = page.read_text(encoding="utf-8")
    lines = text[text.index(f"\n## {heading}\n"):].splitlines()
    rows = []
    for line in lines:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            break
    return rows[2:]


def paths_below(page, heading):
    return [path for row in rows_below(page, heading)
            for path in PATH.findall(row.split("|")[1])]


class PlacesTest(unittest.TestCase):

    def expect_paths(self, page, heading, name):
        paths = paths_below(page, heading)
        self.assertGreater(len(paths), 3)
        for path in paths:
            with self.subTest(path=path):
                self.assertTrue((ROOT / path.replace("NAME", name)).exists())

    def test_an_analysis_needs_four_places_and_they_exist(self):
        self.assertEqual(len(rows_below(ANALYSIS, "The four places")), 4)
        self.expect_paths(ANALYSIS, "The four places", "value_table")

    def test_what_an_analysis_touches_has_its_list(self):
        self.assertIn("kAnalyses[]",
                      (ROOT / "profiler/report/analyses.cc").read_text())
        self.assertIn("\n## Analyses\n", (ROOT / "docs/report.md").read_text())

    def test_the_places_of_an_exporter_exist(self):
        self.expect_paths(EXPORTER, "In this repository", "summary")

    def test_the_places_of_a_backend_exist(self):
        self.expect_paths(BACKEND, "The places", "sampling")

    def test_every_backend_of_ours_has_the_places_that_the_page_names(self):
        source = ROOT / "backends/builtin/builtin_backends.cc"
        labels = ROOT / "backends/builtin/BUILD.bazel"
        includes = re.findall(r'#include "backends/(\w+)/', source.read_text())
        names = [name for name in includes if name != "builtin"]
        self.assertGreater(len(names), 3)
        for name in names:
            with self.subTest(backend=name):
                self.assertIn(f'"//backends/{name}', labels.read_text())
                self.assertTrue((ROOT / "backends" / name /
                                 "README.md").exists())

    def test_every_exporter_of_ours_has_the_places_that_the_page_names(self):
        source = ROOT / "exporters/builtin/builtin_exporters.cc"
        labels = ROOT / "exporters/builtin/BUILD.bazel"
        test = ROOT / "exporters/builtin/builtin_exporters_test.cc"
        includes = re.findall(r'#include "exporters/(\w+)/',
                              source.read_text())
        names = [name for name in includes if name != "builtin"]
        self.assertGreater(len(names), 5)
        for name in names:
            with self.subTest(exporter=name):
                self.assertIn(f'"//exporters/{name}', labels.read_text())
                self.assertIn(name, test.read_text())
                self.assertTrue((ROOT / "exporters" / name /
                                 "README.md").exists())


if __name__ == "__main__":
    unittest.main()
