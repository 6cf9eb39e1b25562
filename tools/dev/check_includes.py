#!/usr/bin/env python3
"""Checks that sources include what they name.

  tools/dev/check_includes.py [--root=DIR] [--table=FILE]

Our sources begin with precompiled headers, so the compiler does not see that an
include is missing; it sees that only in a workspace that uses this one. Nor does
it where several sources are compiled as one. So this looks for names of the
standard library, of Abseil, and of types that one header of ours defines, where
they stand without their namespace or behind its last part; and for the header
of each: in the source, or in the headers of ours that it includes.

Prints one line per violation, `file:line: what is wrong`, and ends with
status 1 if there are any. It knows the names that our sources have most.
"""

import os
import re
import sys

from check_layers import (Checker, files_below, includes, line_of, run,
                          without_comments)

# By header: names of std, which may also be in std::ranges.
STANDARD = {
    "algorithm": "all_of any_of binary_search clamp copy count count_if equal"
                 " equal_range fill find find_if for_each generate"
                 " inplace_merge is_sorted lower_bound make_heap max"
                 " max_element merge min min_element mismatch none_of"
                 " nth_element partial_sort partition pop_heap push_heap"
                 " remove_if replace reverse rotate set_difference sort"
                 " stable_sort swap_ranges transform unique upper_bound",
    "array": "array to_array",
    "atomic": "atomic atomic_flag memory_order_acquire memory_order_relaxed"
              " memory_order_release",
    "bit": "bit_cast bit_width countl_zero countr_zero has_single_bit popcount",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "ceil floor isfinite isnan llround log2 round sqrt",
    "cstring": "memcmp memcpy strcmp strlen",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "bind function greater hash less",
    "iterator": "back_inserter begin data distance end next prev size",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex scoped_lock unique_lock",
    "new": "bad_alloc nothrow",
    "numeric": "accumulate iota partial_sum",
    "optional": "nullopt optional",
    "random": "mt19937 random_device",
    "set": "multiset set",
    "span": "as_bytes span",
    "sstream": "istringstream ostringstream stringstream",
    "string": "getline stoi string to_string",
    "string_view": "string_view",
    "system_error": "errc error_code",
    "thread": "this_thread thread",
    "tuple": "make_tuple tie tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "exchange forward move pair swap",
    "variant": "get_if holds_alternative variant visit",
    "vector": "vector",
}
CONTAINERS = {"array", "map", "set", "span", "string", "string_view",
              "unordered_map", "unordered_set", "vector"}
# What else declares a header's names, by the standard or in every library.
ALSO_IN = {
    "cmath": {"math.h"},
    "cstring": {"string.h"},
    "iterator": CONTAINERS | {"algorithm"},
    "new": {"map", "memory", "string", "vector"},
    "string": {"fstream", "sstream"},
    "string_view": {"string"},
    "utility": CONTAINERS | {"algorithm", "functional", "memory", "optional",
                             "tuple", "variant"},
    "absl/status/status.h": {"absl/status/statusor.h"},
}
ABSEIL = {
    "absl/status/status.h":
        r"ErrnoToStatus|OkStatus|Status|StatusCode|\w+Error",
    "absl/status/statusor.h": "StatusOr",
    "absl/strings/str_cat.h": "AlphaNum|StrAppend|StrCat",
    "absl/strings/str_format.h": "StrAppendFormat|StrFormat",
    "absl/strings/str_join.h": "StrJoin",
    "absl/strings/str_split.h": "StrSplit",
}
HEADER_OF = {name: header for header, names in STANDARD.items()
             for name in names.split()}
NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")
ABSEIL_NAMES = {header: re.compile(rf"\babsl::(?:{names})\b")
                for header, names in ABSEIL.items()}
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A type's definition, and one that is nested in no other: namespaces do not
# indent.
TYPE = re.compile(
    r"^(?P<indent> *)(?:class|struct|enum class|enum|union)\s+"
    r"(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*|[A-Z]+_\w+\s+)*"
    r"(?P<name>[A-Z]\w*)\s*(?:final\s*)?[:{]", re.M)
# Others that have a name: aliases, and parameters of templates.
ALIAS = re.compile(r"\busing\s+([A-Z]\w*)\s*=|"
                   r"\b(?:class|typename)\s+([A-Z]\w*)\s*[,>=]")
# A word that can only be a type or a namespace.
TYPE_NAME = re.compile(
    r"(?<![.>:\w])([A-Z]\w+)(?=::|\s*[&*]*\s+\w|[&*>])")
NAMESPACE = re.compile(r"^namespace (?:kymo::)?(\w+) \{", re.M)
# The same behind a namespace, where functions and constants may have the name.
QUALIFIED = re.compile(r"\b([a-z]\w*)::([A-Z]\w+)\b(?!\()")


class IncludeChecker:
    """Knows what each file includes."""

    def __init__(self, root, table):
        self._root = root
        self._resolver = Checker(root, table)
        self._known = {}
        self._texts = {}
        self._header_of_type = {}

    def _text(self, path):
        """The file without comments and the contents of texts."""
        if path not in self._texts:
            self._texts[path] = TEXT.sub(
                '""', without_comments(self._read(path)[0]))
        return self._texts[path]

    def learn_types(self, paths):
        """Which header of ours defines a type, if no other file has the name."""
        places = {}
        for path in paths:
            for match in TYPE.finditer(self._text(path)):
                of_header = path.endswith(".h") and not match["indent"]
                places.setdefault(match["name"], set()).add(
                    path if of_header else None)
            for match in ALIAS.finditer(self._text(path)):
                places.setdefault(match[1] or match[2], set()).add(None)
        self._header_of_type = {
            name: found.pop() for name, found in places.items()
            if len(found) == 1 and None not in found}

    def _read(self, path):
        """(text, headers of ours, headers of others)"""
        if path not in self._known:
            ours, others, text = set(), set(), ""
            if os.path.isfile(os.path.join(self._root, path)):
                with open(os.path.join(self._root, path), encoding="utf-8",
                          errors="replace") as file:
                    text = file.read()
            for _, _, header in includes(text):
                target = self._resolver.resolve(header)
                (others if target is None else ours).add(target or header)
            self._known[path] = text, ours, others
        return self._known[path]

    def _included(self, path):
        """All that the file includes, also by headers of ours, and the file."""
        found, left = set(), [path]
        while left:
            at = left.pop()
            if at not in found:
                found.add(at)
                _, ours, others = self._read(at)
                found |= others
                left += ours
        return found

    def _declares(self, path, name):
        return re.search(rf"\b(?:class|struct|enum|using)\s+{name}\b",
                         self._text(path))

    def _namespaces(self, path):
        return NAMESPACE.findall(self._text(path))

    def check_file(self, path):
        text = self._text(path)
        needed = {}  # by header, the first place of a name
        for match in NAME.finditer(text):
            header = HEADER_OF.get(match.group(1))
            if header:
                needed.setdefault(header, match)
        for header, names in ABSEIL_NAMES.items():
            match = names.search(text)
            if match:
                needed[header] = match
        for match in TYPE_NAME.finditer(text):
            header = self._header_of_type.get(match.group(1))
            if header and not self._declares(path, match.group(1)):
                needed.setdefault(header, match)
        have = self._included(path)
        for match in QUALIFIED.finditer(text):
            header = self._header_of_type.get(match.group(2))
            if (header and header not in have and
                    match.group(1) in self._namespaces(header) and
                    not any(self._declares(file, match.group(2))
                            for file in have)):
                needed.setdefault(header, match)
        return [f"{path}:{line_of(text, match.start())}: {match.group()} needs"
                f" the include <{header}>"
                for header, match in sorted(needed.items())
                if header not in have and not ALSO_IN.get(header, set()) & have]


def check(root, table):
    """All violations under `root`, and the number of files."""
    checker = IncludeChecker(root, table)
    files = files_below(root, (".cc", ".h"))
    checker.learn_types(files)
    return [line for path in files for line in checker.check_file(path)
            ], len(files)


if __name__ == "__main__":
    sys.exit(run("check_includes", __doc__, check))
