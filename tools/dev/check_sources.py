#!/usr/bin/env python3
"""Checks the forms that a source must have, and no formatter sees to.

  tools/dev/check_sources.py [--root=DIR] [--table=FILE]

Prints one line per violation, `file:line: what is wrong`, and ends with
status 1 if there are any. The rules:

  - a line of C++ has at most 80 columns, unless it has an address (http), is
    within a raw string, or is a line of the preprocessor;
  - a source of C++, Python or shell has at most 400 lines, or its first comment
    says why not, in a sentence that begins with "Long, because";
  - a folder has at most 45 sources;
  - C++ uses no algorithm of std::ranges that gives a subrange, and no view:
    clang 14 cannot compile those of GCC 12's library (--config=clang);
  - no library of ours prints a double with printf, whose point is that of the
    program's locale;
  - no variable of the TLS model initial-exec is local to its source: in a
    shared library, gold gives it another variable's place (seen with 2.40);
  - below each kymo_cc_unit_test of a BUILD file stands kymo_cc_unit_tests(),
    or no program of `//...` has that test;
  - a repository that a BUILD file names is in MODULE.bazel: Bazel 4 knows some
    that Bazel 7 does not (@platforms).
"""

import collections
import os
import re
import sys

from check_layers import EXTENSIONS, files_below, line_of, run

SOURCES = EXTENSIONS + (".py", ".sh")
MOST_COLUMNS = 80
MOST_LINES = 400
MOST_SOURCES = 45
RAW_STRING = re.compile(r'R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"', re.S)
REASON = "Long, because"
SUBRANGES = re.compile(
    r"\bstd::(views|ranges::(views|subrange|unique|equal_range|remove|remove_if"
    r"|partition|stable_partition|rotate|search|search_n|find_end))\b")


PRINTED_DOUBLE = re.compile(
    r"\b\w*printf\([^;]*?\"[^\"]*%[-+ #0]*[\d*]*(\.[\d*]+)?[aefgAEFG]")
PRINTS = re.compile(r"(profiler|exporters|importers|backends)/"
                    r"(?!.*(/target/|test|benchmark))")


def wide_lines(text):
    """The numbers of lines of C++ that have too many columns."""
    text = RAW_STRING.sub(lambda raw: "\n" * raw.group().count("\n"), text)
    return [number for number, line in enumerate(text.splitlines(), 1)
            if len(line) > MOST_COLUMNS and "http" not in line
            and not line.startswith("#")]


def first_comment(text):
    """The first comment or docstring, on one line."""
    comment = []
    for line in text.splitlines():
        is_comment = re.match(r"(//|#(?!include|if|define|pragma))", line)
        if is_comment:
            comment.append(line.lstrip("/#! "))
        elif comment and not line.startswith("#!"):
            break
    docstring = re.search(r'"""(.*?)"""', text, re.S)
    if docstring:
        comment.append(docstring.group(1))
    return " ".join(" ".join(comment).split())


def check_text(path, text):
    found = []
    if path.endswith(EXTENSIONS):
        found += [f"{path}:{line}: more than {MOST_COLUMNS} columns"
                  for line in wide_lines(text)]
        found += [f"{path}:{line_of(text, use.start())}: clang 14 cannot"
                  f" compile {use.group()} of GCC 12's library"
                  for use in SUBRANGES.finditer(text)]
        if PRINTS.match(path):
            found += [f"{path}:{line_of(text, use.start())}: printf's point is"
                      " the locale's: use std::to_chars or absl::StrFormat"
                      for use in PRINTED_DOUBLE.finditer(text)]
        found += [f"{path}:{line_of(text, use)}: gold gives an initial-exec"
                  " variable another one's place: take it out of the anonymous"
                  " name space, and hide it" for use in local_tls(text)]
    lines = text.count("\n")
    if lines > MOST_LINES and REASON not in first_comment(text):
        found.append(
            f"{path}:1: has {lines} lines: cut it where a reader would, or say"
            f' in its first comment why not ("{REASON} ...")')
    return found


def local_tls(text):
    """Where an anonymous name space has variables of model initial-exec."""
    for space in re.finditer(r"^namespace \{$.*?^\}  // namespace$", text,
                             re.M | re.S):
        yield from (space.start() + use.start()
                    for use in re.finditer('"initial-exec"', space[0]))


def unshared_tests(path, text):
    below = text.rpartition("\nkymo_cc_unit_tests(")[2]
    return [f"{path}:{line_of(text, len(text) - len(below) + test.start())}:"
            " is in no program: put kymo_cc_unit_tests() below it"
            for test in re.finditer(r"^kymo_cc_unit_test\(", below, re.M)]


def unnamed_modules(path, text, modules):
    return [f"{path}:{line_of(text, use.start())}: MODULE.bazel does not have"
            f" the module {use[1]}"
            for use in re.finditer(r'^[^#\n]*"@([\w-]+)//', text, re.M)
            if f'"{use[1]}"' not in modules and use[1] != "bazel_tools"]


def check(root):
    """All violations under `root`, and the number of sources."""
    paths = files_below(root, SOURCES)
    found = []
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8",
                  errors="replace") as file:
            found += check_text(path, file.read())
    for folder, count in sorted(
            collections.Counter(map(os.path.dirname, paths)).items()):
        if count > MOST_SOURCES:
            found.append(f"{folder}:1: has {count} sources, of which a reader"
                         f" sees at most {MOST_SOURCES}: make a folder of some")
    modules = None
    if os.path.exists(os.path.join(root, "MODULE.bazel")):
        with open(os.path.join(root, "MODULE.bazel"), encoding="utf-8") as file:
            modules = file.read()
    for path in files_below(root, ("BUILD.bazel",)):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        found += unshared_tests(path, text)
        # This one is a module of its own.
        if modules and not path.startswith("examples/external/"):
            found += unnamed_modules(path, text, modules)
    return found, len(paths)


if __name__ == "__main__":
    sys.exit(run("check_sources", __doc__, lambda root, _: check(root)))
