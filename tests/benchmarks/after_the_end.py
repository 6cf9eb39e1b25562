#!/usr/bin/env python3
"""Measures what `kymo PROGRAM` does after the program's end, with all defaults.

    tests/benchmarks/after_the_end.py [--repeat=5] [--only=REGEX] [--kymo=PATH[,PATH]]

The programs have sampled stacks of all kinds, two of them deep ones. A row has
medians: how long the program ran, and the CPU time and the time that the command
took after it. The aim is 5 % of the program's time and 0.3 s. It is the table "A
sampled run" of docs/overhead.md.

Several builds of kymo, each with its libraries in runtime/ beside it, take turns.
The ratios are those of single turns: the median, the least and the largest. They
say what a change did where the machine has other work. Without --kymo, it is built.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import start_to_answer

# Each character of the text is another level of the matcher's recursion, through
# several functions that are inlined. It runs for so much CPU time.
REGEX_SOURCE = """
#include <ctime>
#include <regex>
#include <string>
int main() {
  const std::regex expression("(a|b|c)*d?(e|f|[g-z])*");
  std::string text;
  for (int i = 0; i < 400; ++i) text += "abc"[i % 3];
  long matches = 0;
  while (std::clock() < 3.6 * CLOCKS_PER_SEC) {
    matches += std::regex_match(text, expression);
  }
  return matches == 0;
}
"""


def recursion_source():
    """300 functions that call one another at random, 300 deep."""
    text = """
#include <ctime>
static unsigned state = 1;
typedef unsigned (*Function)(int);
extern Function table[300];
static unsigned Next() { return (state = state * 1664525u + 1013904223u) >> 8; }
static unsigned Mix(unsigned x, int times) {
  for (int i = 0; i < times; ++i) x = x * 31 + i;
  return x;
}
"""
    for i in range(300):
        text += (f"__attribute__((noinline)) unsigned F{i}(int depth) {{\n"
                 f"  if (depth == 0) return Mix({i}, 20000);\n"
                 f"  return Mix(table[Next() % 300](depth - 1), 30) + {i};\n}}\n")
    text += "Function table[300] = {" + ", ".join(f"F{i}" for i in range(300)) + "};\n"
    return text + """
volatile unsigned sink;
int main() {
  while (clock() < 5 * CLOCKS_PER_SEC) sink = F0(300);
}
"""


def compiled(scratch, name, source, *flags):
    path = scratch / f"{name}.cc"
    path.write_text(source)
    subprocess.run(["g++", "-std=c++17", "-g", *flags, path, "-o", scratch / name], check=True)
    return [str(scratch / name)]


def make_rows(scratch):
    """(what, a function that makes the program's command)."""
    def clang():
        source = scratch / "large.cc"
        source.write_text(start_to_answer.LARGE_SOURCE)
        return ["clang++", "-std=c++17", "-O1", "-c", str(source), "-o",
                str(scratch / "large.o")]
    return [
        ("clang++ -c", clang),
        ("python3", lambda: ["python3", "-c", start_to_answer.PYTHON_PROGRAM]),
        ("std::regex_match", lambda: compiled(scratch, "regex", REGEX_SOURCE, "-O2")),
        ("recursion", lambda: compiled(scratch, "recursion", recursion_source(), "-O1"))]


def child_of(pid):
    """The process's child, or None."""
    for task in os.listdir(f"/proc/{pid}/task"):
        children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        if children:
            return int(children[0])
    return None


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def cpu_seconds(pid):
    """The process's own CPU time, without its children's."""
    return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3)


def run(kymo, command, scratch):
    """Seconds of the program; CPU seconds and seconds of the command after it."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        begin = time.monotonic()
        with subprocess.Popen([kymo, "--quiet", f"--output_dir={folder}/out", *command],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            child = None
            while child is None and process.poll() is None:
                child = child_of(process.pid)
                time.sleep(0.001)
            while child is not None and is_running(child):
                time.sleep(0.0005)
            end, before = time.monotonic(), cpu_seconds(process.pid)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            after = cpu_seconds(process.pid) - before, time.monotonic() - end
            errors = process.stderr.read().decode(errors="replace")
        if process.returncode != 0:
            raise SystemExit(f"{command}: status {process.returncode}\n{errors}")
        return end - begin, *after


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose text this is found in")
    parser.add_argument("--kymo", default="", help="builds of kymo, separated by commas")
    flags = parser.parse_args()
    if not flags.kymo:
        root = start_to_answer.ROOT
        subprocess.run([root / "bazelw", "build", "//tools:kymo"], cwd=root, check=True)
        flags.kymo = str(root / "bazel-bin/tools/kymo")
    builds = [str(pathlib.Path(path).absolute()) for path in flags.kymo.split(",")]
    print("| program | kymo | its time | CPU time after it | time after it | aim | CPU time, "
          "to the first |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for what, make in make_rows(scratch):
            if not re.search(flags.only, what):
                continue
            command = make()
            if not shutil.which(command[0]):
                print(f"| {what} | {command[0]} missing | | | | | |")
                continue
            turns = [[run(kymo, command, scratch) for kymo in builds]
                     for _ in range(flags.repeat)]
            for i, kymo in enumerate(builds):
                length, cpu, elapsed = (statistics.median(turn[i][k] for turn in turns)
                                        for k in range(3))
                ratios = sorted(turn[i][1] / turn[0][1] for turn in turns)
                print(f"| {what} | {kymo} | {length:.2f} s | {cpu:.2f} s | {elapsed:.2f} s | "
                      f"{0.05 * length + 0.3:.2f} s | {statistics.median(ratios):.2f} "
                      f"({ratios[0]:.2f} to {ratios[-1]:.2f}) |", flush=True)
    print(f"\nLoad: {' '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
