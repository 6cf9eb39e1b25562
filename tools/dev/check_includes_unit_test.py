"""Tests check_includes.py on small trees."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from tools.dev import check_includes, check_layers

TABLE = "alias kymo = profiler/api\nprofiler/* :\n"


class CheckIncludesTest(unittest.TestCase):

    def assert_only(self, files, *expected):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            violations, _ = check_includes.check(root,
                                                 check_layers.Table(TABLE))
        self.assertEqual(violations, list(expected))

    def test_names_need_their_header(self):
        self.assert_only(
            {"profiler/base/a.cc":
             "#include <string>\nstd::string a;\nstd::vector<int> b;\n"
             "std::vector<int> c;\nabsl::Status d;\nauto e ="
             " absl::StrCat(1);\n"},
            "profiler/base/a.cc:5: absl::Status needs the include"
            " <absl/status/status.h>",
            "profiler/base/a.cc:6: absl::StrCat needs the include"
            " <absl/strings/str_cat.h>",
            "profiler/base/a.cc:3: std::vector needs the include <vector>")

    def test_headers_of_ours_bring_theirs(self):
        self.assert_only(
            {"profiler/api/a.h": "#include <vector>\n",
             "profiler/base/b.h": '#include "kymo/a.h"\n',
             "profiler/base/c.cc":
             '#include "profiler/base/b.h"\nstd::vector<std::set<int>> c;\n'},
            "profiler/base/c.cc:2: std::set needs the include <set>")

    def test_some_headers_bring_others(self):
        self.assert_only(
            {"profiler/base/a.cc":
             "#include <absl/status/statusor.h>\n#include <string>\n"
             "absl::Status a = std::move(b);\nstd::string_view c;\n"})

    def test_comments_and_texts_name_nothing(self):
        self.assert_only({"profiler/base/a.cc":
                          '// std::vector\nconst char* a = "std::map";\n'})

    def test_types_of_ours_need_their_header(self):
        self.assert_only(
            {"profiler/base/a.h":
             "class alignas(64) Once final {\n  struct Inner {};\n};\n"
             "struct Twice {};\nstruct Alias {};\nstruct Part {};\n",
             "profiler/base/aliases.cc":
             "using Alias = int;\nAlias a;\ntemplate <typename Part>\n"
             "void Use(Part part);\n",
             "profiler/base/b.h": '#include "profiler/base/a.h"\n',
             "profiler/base/c.cc": "struct Twice {};\n",
             "profiler/base/good.cc":
             '#include "profiler/base/b.h"\nOnce once;\n',
             "profiler/base/declares.cc":
             "class Once;\nOnce* once;\nTwice twice;\n",
             "profiler/base/calls.cc":
             "int a = Once(1);\nInner b;\nint c = other.Once ;\n",
             "profiler/base/bad.cc": "\nconst Once& once;\n"},
            "profiler/base/bad.cc:2: Once needs the include <profiler/base/a.h>")

    def test_types_behind_their_namespace_need_their_header(self):
        header = ("namespace kymo::model {\nstruct Trace {};\n"
                  "struct Sum {};\n}\n")
        self.assert_only(
            {"profiler/base/a.h": header,
             "profiler/base/b.h":
             "namespace kymo::model {\nstruct Sum;\n}\n",
             "profiler/base/bad.cc": "\nauto a = kymo::model::Trace{};\n",
             "profiler/base/declared.cc":
             '#include "profiler/base/b.h"\nUse(model::Sum{});\n',
             "profiler/base/others.cc":
             "auto a = model::Trace();\nauto b = text::Trace{};\n"},
            "profiler/base/bad.cc:2: model::Trace needs the include"
            " <profiler/base/a.h>")


if __name__ == "__main__":
    unittest.main()
