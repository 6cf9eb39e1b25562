#!/usr/bin/env python3
"""Checks the C++ files against tools/dev/layers.txt, and some rules of ours.

  tools/dev/check_layers.py [--root=DIR] [--table=FILE]

Prints one line per violation, `file:line: what is wrong`, and ends with
status 1 if there are any. The rules:

  - an include goes only where the table has an arrow;
  - it is rooted at the workspace, without `..`;
  - the first include of foo.cc and foo_test.cc is foo.h, if that exists
    beside it or, for what implements them, among the public headers;
  - code that runs in the profiled program includes nothing of the collector;
  - the include guard of a/b.h is KYMO_A_B_H_;
  - a test that writes TEST() includes GoogleTest, which its precompiled header
    would otherwise hide;
  - each descriptor that the library or the target opens is passed through
    AboveStandardStreams() of profiler/base/descriptor.h, or owned by an
    OwnedDescriptor.
"""

import argparse
import fnmatch
import os
import re
import sys

EXTENSIONS = (".cc", ".h", ".cu", ".cuh", ".c")
COMMENT_OR_TEXT = re.compile(
    r"""R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"   # raw string
      | "(?:\\.|[^"\\\n])*"                          # string
      | '(?:\\.|[^'\\\n])+'                          # character
      | //[^\n]* | /\*.*?\*/                         # comments
    """, re.S | re.X)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.M)
# The word before tells a declaration (`int open(...)`) from a call.
OPENING = re.compile(
    r"""(?P<before>\b\w+[ ]+)?(?<![\w.>:])
        (?:open(?:at)?|fopen|opendir|mkostemp|memfd_create|socket|accept4
          |pipe2?|eventfd|epoll_create1|timerfd_create)\(
      | \bsyscall\(\s*SYS_(?:openat|perf_event_open|memfd_create)\b
      | \bofstream\s+\w+[({]""", re.X)
KEEPS_ABOVE = re.compile(r"\bAboveStandardStreams\(|\bOwnedDescriptor\b")
DESCRIPTOR_FOLDERS = ("profiler/", "backends/", "importers/", "exporters/")
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(", re.M)
GUARD = re.compile(r"^#ifndef (\w+)\n#define (\w+)$", re.M)


class TableError(Exception):
    """The table itself is wrong."""


def fits(name, pattern):
    """Like fnmatch, but * stays within one component of a path."""
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(
        fnmatch.fnmatchcase(part, want) for part, want in zip(parts, wanted))


class Table:
    """The parsed layers.txt."""

    def __init__(self, text, name="layers.txt"):
        self.rows = []  # (pattern of areas, [patterns of areas])
        self.aliases = []  # (prefix, folder)
        self.generated = []
        self.tests = []
        self.vendors = []  # (prefix, [patterns of areas and files])
        self.worlds = []  # (name, pattern of areas), as they stand
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            if line:
                try:
                    self._parse(line)
                except ValueError:
                    raise TableError(f"{name}:{number}: cannot read '{line}'")
        if self.worlds:
            self._check_worlds(name)

    def _parse(self, line):
        word, _, rest = line.partition(" ")
        if word == "alias":
            prefix, folder = rest.split("=")
            self.aliases.append((prefix.strip() + "/", folder.strip() + "/"))
        elif word == "generated":
            self.generated += rest.split()
        elif word == "tests":
            self.tests += rest.split()
        elif word == "world":
            world, rows = rest.split(":")
            self.worlds += [(world.strip(), row) for row in rows.split()]
        elif word == "vendor":
            prefixes, users = rest.split(":")
            self.vendors += [(p, users.split()) for p in prefixes.split()]
        else:
            row, targets = line.split(":")
            self.rows.append((row.strip(), targets.split()))

    def world(self, area):
        """The world of an area: that of the first row that it fits."""
        for name, row in self.worlds:
            if fits(area, row) or area == row:
                return name
        return None

    def _check_worlds(self, name):
        """Every row stands in a world, and no arrow leads out of the target."""
        for row, targets in self.rows:
            if row.startswith("@"):
                continue
            world = self.world(row)
            if world is None:
                raise TableError(f"{name}: '{row}' stands in no world")
            for target in targets:
                if world == "target" and self.world(target) == "collector":
                    raise TableError(
                        f"{name}: '{row}' runs in the program and may not"
                        f" include '{target}', which runs after it")

    def area(self, path):
        """The area of a file: its longest folder with a row."""
        folder = os.path.dirname(path)
        while folder:
            if any(fits(folder, row) for row, _ in self.rows):
                return folder
            folder = os.path.dirname(folder)
        return None

    def implements(self, path, folder):
        """Whether the headers of the folder may include the file's area."""
        area, public = self.area(path), folder.rstrip("/")
        return any(fits(area, target) for row, targets in self.rows
                   if row == public for target in targets)

    def is_test(self, path):
        name = os.path.basename(path)
        return any(fnmatch.fnmatchcase(name, t) for t in self.tests)

    def allows(self, path, target_area):
        """Whether the file may include headers of the area."""
        area = self.area(path)
        if target_area == area:
            return True
        rows = {area, "@tests"} if self.is_test(path) else {area}
        return any(
            fits(target_area, target)
            for row, targets in self.rows if any(fits(r, row) for r in rows)
            for target in targets)

    def vendor_users(self, header):
        """Who may include a vendor's header; None when it is no vendor's."""
        users = [u for p, us in self.vendors if header.startswith(p)
                 for u in us]
        return users or None

    def allows_vendor(self, path, users):
        names = {path, self.area(path) or ""}
        if self.is_test(path):
            names.add("@tests")
        return any(fits(name, user) for name in names for user in users)


def without_comments(text):
    def blank(match):
        # Keeps the lines, and the header names, which look like strings.
        found = match.group()
        if found.startswith('"'):
            return found
        return re.sub(r"[^\n]", " ", found)

    return COMMENT_OR_TEXT.sub(blank, text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def includes(text):
    """(line, is_quoted, header) of each #include, comments left aside."""
    text = without_comments(text)
    return [(line_of(text, match.start()), match.group(1) == '"',
             match.group(2)) for match in INCLUDE.finditer(text)]


def low_descriptors(text):
    """The lines that open a file whose descriptor may be below 3."""
    text = without_comments(text)
    lines = []
    for match in OPENING.finditer(text):
        if (match.group("before") or "return").strip() != "return":
            continue
        statement = re.split("[;{}]", text[:match.start()])[-1]
        if not KEEPS_ABOVE.search(statement):
            lines.append(line_of(text, match.start()))
    return lines


def files_below(root, extensions=EXTENSIONS):
    """The workspace's files with these extensions, sorted."""
    found = []
    for folder, folders, files in os.walk(root):
        # Bazel's links into its output are links, which walk leaves alone.
        folders[:] = [f for f in folders
                      if not f.startswith(".") and not f.startswith("bazel-")]
        found += [os.path.relpath(os.path.join(folder, f), root)
                  for f in files if f.endswith(extensions)]
    return sorted(found)


class Checker:
    def __init__(self, root, table):
        self.root = root
        self.table = table
        self.violations = []

    def exists(self, path):
        return os.path.isfile(os.path.join(self.root, path))

    def report(self, path, line, message):
        self.violations.append(f"{path}:{line}: {message}")

    def resolve(self, header):
        """The workspace file that an include means, or None."""
        for prefix, folder in self.table.aliases:
            if header.startswith(prefix):
                header = folder + header[len(prefix):]
        if self.exists(header):
            return header
        for suffix in self.table.generated:
            if header.endswith(suffix):
                source = header[:-len(suffix)]
                if any(self.exists(source + e) for e in (".proto", ".bzl")):
                    return header
        return None

    def check_include(self, path, line, is_quoted, header):
        if ".." in header.split("/"):
            self.report(path, line, f"'{header}' goes through '..'")
            return
        target = self.resolve(header)
        if target is None:
            users = self.table.vendor_users(header)
            if users is not None:
                if not self.table.allows_vendor(path, users):
                    self.report(path, line,
                                f"'{header}' is only for {' '.join(users)}")
            elif is_quoted:
                self.report(path, line,
                            f"'{header}' is neither a file from the"
                            " workspace's root nor a vendor header of the"
                            " table")
            return
        if not is_quoted:
            self.report(path, line, f"<{header}> is ours: use quotes")
        area = self.table.area(target)
        if area is None:
            self.report(path, line, f"'{header}' is in no row of the table")
        elif not self.table.allows(path, area):
            self.report(path, line,
                        f"{self.table.area(path)} may not include {area}"
                        f" ('{header}')")

    def check_own_header_first(self, path, found):
        stem, extension = os.path.splitext(path)
        if extension == ".h":
            return
        for own in (stem, re.sub("_test$", "", stem)):
            # Beside it, or a public header that the file implements.
            places = [own + ".h"] + [
                folder + os.path.basename(own) + ".h"
                for _, folder in self.table.aliases
                if self.table.implements(path, folder)]
            for place in places:
                if self.exists(place):
                    first = self.resolve(found[0][2]) if found else None
                    if first != place:
                        self.report(path, found[0][0] if found else 1,
                                    f"the first include must be '{place}'")
                    return

    def check_guard(self, path, text):
        if not path.endswith(".h"):
            return
        name = "KYMO_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
        guard = GUARD.search(text)
        if guard is None or guard.groups() != (name, name):
            line = text.count("\n", 0, guard.start()) + 1 if guard else 1
            self.report(path, line, f"the include guard must be {name}")

    def check_googletest(self, path, text, found):
        test = TEST.search(without_comments(text))
        if test and path.endswith("_test.cc") and not any(
                header.startswith(("gtest/", "gmock/"))
                for _, _, header in found):
            self.report(path, line_of(text, test.start()),
                        "TEST() needs the include <gtest/gtest.h>")

    def check_descriptors(self, path, text):
        if (not path.startswith(DESCRIPTOR_FOLDERS) or self.table.is_test(path)
                or path.endswith(".c")):  # all of them are tests'
            return
        for line in low_descriptors(text):
            self.report(path, line,
                        "a descriptor below 3 may be the program's closed"
                        " standard stream: use OwnedDescriptor or"
                        " AboveStandardStreams()")

    def check_file(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8",
                  errors="replace") as file:
            text = file.read()
        if self.table.area(path) is None:
            self.report(path, 1, "is in no row of the table")
            return
        found = includes(text)
        for line, is_quoted, header in found:
            self.check_include(path, line, is_quoted, header)
        self.check_own_header_first(path, found)
        self.check_guard(path, text)
        self.check_googletest(path, text, found)
        self.check_descriptors(path, text)


def check(root, table):
    """All violations under `root`, sorted by file; and the number of files."""
    checker = Checker(root, table)
    files = files_below(root)
    for path in files:
        checker.check_file(path)
    return checker.violations, len(files)


def run(script, doc, check_root):
    """The main function of a check.

    check_root(root, table) gives the violations and the number of files.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", default=os.path.join(here, "..", ".."))
    parser.add_argument("--table", default=os.path.join(here, "layers.txt"))
    options = parser.parse_args()
    with open(options.table, encoding="utf-8") as file:
        try:
            table = Table(file.read(), options.table)
        except TableError as error:
            print(error, file=sys.stderr)
            return 2
    violations, count = check_root(os.path.realpath(options.root), table)
    for violation in violations:
        print(violation)
    print(f"{script}: {count} files, {len(violations)} violations",
          file=sys.stderr)
    if count == 0:
        print(f"{script}: no source found", file=sys.stderr)
        return 2
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(run("check_layers", __doc__, check))
