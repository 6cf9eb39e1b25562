#!/usr/bin/env python3
"""Checks that targets depend on what their sources include.

  tools/dev/check_deps.py [--root=DIR] [--table=FILE]

A header of ours that a source of a target includes is in the target itself or
in one of its `deps`. It is not enough that a dep has it among its own deps, as
Bazel allows: that dep may stop using it. These stand for others:

  - a target without sources and headers, for its own deps,
  - //profiler/record:recorder, for the host that it stands on,
  - public headers (kymo/...) are left out: whoever uses Kymo has them of
    //:kymo and its like.

Reads BUILD files, which are Python but for `load`, and takes every branch of
select(). Prints one line per violation, `BUILD file: what is wrong`, and ends
with status 1 if there are any.
"""

import builtins
import os
import sys

from check_layers import files_below, includes, run

BUILD = "BUILD.bazel"
HOST_OF = {"//profiler/record:recorder": "//profiler/record/host:host"}
SOURCES = (".cc", ".h", ".c", ".cu")


class Flat(list):
    """A list to which other lists and the branches of select() are added."""

    def __add__(self, other):
        return Flat([*self, *flat(other)])

    def __radd__(self, other):
        return Flat([*flat(other), *self])


def flat(value):
    """All texts in lists, and in dictionaries' values."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [text for part in value for text in flat(part)]


class BuildNames(dict):
    """The names of a BUILD file: those that it has of others do nothing."""

    def __init__(self, package, targets):
        super().__init__(select=lambda branches, **_: Flat(flat(branches)),
                         package_name=lambda: package, load=lambda *_, **_n: 0)
        self._package, self._targets = package, targets

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)
        if name.isupper():
            return Flat()

        def rule(*_, **values):
            if "cc_" in name or name == "alias":
                label = f"//{self._package}:{values.get('name')}"
                self._targets[label] = {
                    key: [label_of(self._package, text)
                          for text in flat(values.get(key))]
                    for key in ("srcs", "hdrs", "deps", "actual")}
            return Flat()

        return rule


def label_of(package, text):
    """ "//a:b" for "b", ":b" and "//a/b"."""
    if text.startswith(("//", "@")):
        return text if ":" in text else f"{text}:{text.rsplit('/', 1)[-1]}"
    return f"//{package}:{text.removeprefix(':')}"


def path_of(label):
    return label.removeprefix("//").replace(":", "/").removeprefix("/")


def read_targets(root):
    """Labels, and what each target has."""
    targets = {}
    for path in files_below(root, (BUILD,)):
        package = os.path.dirname(path)
        with open(os.path.join(root, path), encoding="utf-8") as file:
            # pylint: disable=exec-used
            exec(compile(file.read(), path, "exec"),
                 BuildNames(package, targets))
    return targets


def reached(labels, targets):
    """These, and those for which they stand."""
    found, left = set(), list(labels)
    while left:
        label = left.pop()
        if label in found:
            continue
        found.add(label)
        left += [HOST_OF[label]] if label in HOST_OF else []
        target = targets.get(label)
        if target and not target["srcs"] and not target["hdrs"]:
            left += target["deps"] + target["actual"]
    return found


def check(root, _=None):
    """All violations under `root`, and the number of targets."""
    targets = read_targets(root)
    owners = {}
    for label, target in targets.items():
        for header in target["hdrs"]:
            owners.setdefault(path_of(header), set()).add(label)
    violations = []
    for label, target in sorted(targets.items()):
        own = {path_of(file) for file in target["srcs"] + target["hdrs"]}
        deps = reached(target["deps"], targets)
        missing = set()
        for file in own:
            path = os.path.join(root, file)
            if not file.endswith(SOURCES) or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as source:
                missing |= {header for _, _, header in includes(source.read())
                            if header in owners and header not in own
                            and not owners[header] & deps}
        build = path_of(label.split(":")[0] + ":" + BUILD)
        violations += [f"{build}: {label} includes {header} and needs the dep "
                       + " or ".join(sorted(owners[header]))
                       for header in sorted(missing)]
    return violations, len(targets)


if __name__ == "__main__":
    sys.exit(run("check_deps", __doc__, check))
