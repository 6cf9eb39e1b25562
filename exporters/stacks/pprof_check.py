"""Reads a folder's profiles with Go's pprof and compares with its folded files.

    pprof_check.py FOLDER

What `go tool pprof -top` says that each function took itself must be what the
folded stacks say of their innermost frames.
"""

import collections
import os
import re
import subprocess
import sys

# Profile, sample type, unit, folded file with the same sums.
CHECKS = [
    ("stacks.pb.gz", "cpu", "ns", "stacks.folded"),
    ("stacks.pb.gz", "self_time", "ns", "stacks.ranges.folded"),
    ("stacks.memory.pb.gz", "alloc_space", "B", "stacks.memory.folded"),
    ("stacks.memory.pb.gz", "inuse_space", "B", "stacks.memory.alive.folded"),
]


def pprof(*arguments):
    """What pprof prints; it must succeed."""
    return subprocess.run(["go", "tool", "pprof", *arguments], check=True,
                          capture_output=True, text=True).stdout


def folded_sums(path):
    """Weights by innermost frame."""
    sums = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            sums[stack.rsplit(";", 1)[-1]] += int(weight)
    return sums


def top_sums(path, sample_type, unit):
    """Flat values by function, in `unit`."""
    text = pprof("-top", "-nodefraction=0", f"-unit={unit}",
                 f"-sample_index={sample_type}", path)
    row = re.compile(rf"^ *(\d+){unit} +\S+% +\S+% +\S+ +\S+% +(.+)$")
    sums = collections.Counter()
    for line in text.splitlines():
        match = row.match(line)
        if match and int(match[1]):
            sums[match[2]] += int(match[1])
    return sums


def check_labels(path):
    """Samples can be told apart by thread."""
    tags = pprof("-tags", path)
    assert "thread:" in tags and "worker (101)" in tags, tags
    assert "process:" in tags and "app (100)" in tags, tags


def main():
    folder = sys.argv[1]
    for profile, sample_type, unit, folded in CHECKS:
        path = os.path.join(folder, profile)
        expected = folded_sums(os.path.join(folder, folded))
        found = top_sums(path, sample_type, unit)
        assert expected and found == expected, (sample_type, found, expected)
        check_labels(path)
        pprof("-raw", path)
    # The default is CPU time.
    path = os.path.join(folder, "stacks.pb.gz")
    assert "Type: cpu" in pprof("-top", path)


main()
