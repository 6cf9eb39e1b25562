#!/usr/bin/env python3
"""Measures how long a user waits for an answer, beside other tools.

    tests/benchmarks/start_to_answer.py [--repeat=5] [--only=REGEX] [--keep=FOLDER]
        [--limit=120] [--torch-python=/usr/bin/python3]

Each row is one question about one program, from the start of the command until
all that it prints and writes is there. Kymo and its peer take turns, so that a
busy machine slows both. The table has medians, and two ratios of medians, of
elapsed and of CPU time, each with the least and the largest ratio of single
turns. It is the table of docs/overhead.md, which says what the rows are.

A peer that takes longer than --limit seconds is ended, and not tried again in
that row. The row then says "more than 120 s", and "less than" what Kymo's time is
of that.

Peers and programs are taken from the PATH: perf (linux-perf), heaptrack,
clang++, python3. PyTorch's profiler needs a Python that has torch, such as
/usr/bin/python3 with Debian's python3-torch (1.13, without Kineto), or one with
PyPI's wheel, which has CUDA and Kineto. A row that lacks its peer says so.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ["tools/profile", "tools/report", "tests/benchmarks/many_allocations",
           "tests/e2e/target"]

# What a C++ compiler has to do with an ordinary large file.
LARGE_SOURCE = """
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N> struct Table {
  std::map<int, std::vector<std::string>> rows;
  std::unordered_map<std::string, std::function<int(int)>> calls;
  std::variant<int, std::string, double, Table<N - 1>*> next;
  int Sum() {
    int sum = 0;
    for (auto& [key, values] : rows) {
      std::sort(values.begin(), values.end());
      for (auto& value : values) sum += calls[value](key + N);
    }
    return sum + std::visit([](auto&& x) { return int(sizeof(x)); }, next);
  }
};
template <> struct Table<0> { int Sum() { return 0; } };
template <int N> int SumAll() { return Table<N>().Sum() + SumAll<N - 1>(); }
template <> int SumAll<0>() { return 0; }
int main(int, char** argv) {
  return SumAll<30>() + std::regex_match(argv[0], std::regex("a+(b|c)*"));
}
"""

# Many small objects, some of which stay.
PYTHON_PROGRAM = """
import json
kept = []
for i in range(60):
    rows = [{"id": k, "name": "row %d" % k, "values": [k * 0.5] * 8} for k in range(2000)]
    kept.append(json.loads(json.dumps(rows))[i % 7])
print(len(kept))
"""


RANGES = 20_000

# The ranges of tests/e2e/target.cc, recorded by PyTorch's own profiler: without
# Kineto, as Debian builds it, by the one before.
TORCH_PROGRAM = f"""
import torch
from torch.autograd import profiler
with profiler.profile(use_kineto=torch.profiler.kineto_available()) as profile:
    with profiler.record_function("outer"):
        for i in range({RANGES}):
            with profiler.record_function("range"):
                pass
print(profile.key_averages().table())
profile.export_chrome_trace("trace.json")
"""


# A small network that learns.
TORCH_TRAINING = """
import torch
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
    torch.nn.Linear(32 * 16 * 16, 10))
optimizer = torch.optim.Adam(model.parameters())
inputs, labels = torch.randn(16, 3, 16, 16), torch.randint(10, (16,))
for _ in range(30):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
print("trained")
"""


class TooSlow(Exception):
    """The commands took longer than they may."""


class Commands:
    """The commands of one run, in a folder of its own; the last prints.

    `prepare` makes what they read. It is not measured, and called once.
    """

    def __init__(self, *commands, needs=(), modules=(), prepare=lambda: None):
        self.commands = commands
        self.needs = needs
        self.modules = modules  # of the Python of `needs`
        self.prepare = prepare

    def missing(self):
        """The programs and modules that are not there."""
        programs = [name for name in self.needs if not shutil.which(name)]
        if programs:
            return programs
        return [name for name in self.modules
                if subprocess.run([self.needs[0], "-c", f"import {name}"],
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode]

    def run(self, folder, limit=float("inf")):
        """Seconds, CPU seconds, largest process in MiB, MiB written.

        Raises TooSlow after `limit` seconds.
        """
        begin, cpu, peak = time.monotonic(), 0.0, 0
        for command in self.commands:
            with open(folder / "printed", "ab") as out:
                process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out,
                                           start_new_session=True)
                watch = threading.Timer(
                    min(begin + limit - time.monotonic(), threading.TIMEOUT_MAX),
                    os.killpg, [process.pid, signal.SIGKILL])
                watch.start()
                _, status, usage = os.wait4(process.pid, 0)
                watch.cancel()
                process.returncode = os.waitstatus_to_exitcode(status)
            if time.monotonic() >= begin + limit:
                raise TooSlow()
            if process.returncode != 0:
                text = (folder / "printed").read_text(errors="replace")
                sys.exit(f"{command}: status {process.returncode}\n{text[-2000:]}")
            cpu += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss)
        seconds = time.monotonic() - begin
        written = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        return seconds, cpu, peak / 1024, written / (1 << 20)


def heaptrack(*target):
    return Commands(["heaptrack", "-o", "heap", *target],
                    ["sh", "-c", "heaptrack_print heap.*"],
                    needs=["heaptrack", "heaptrack_print"])


def perf(flags, *target):
    return Commands(["perf", "record", "-q", "-F", "1000", *flags, *target],
                    ["perf", "report", "--stdio"], needs=["perf"])


def make_rows(bin_folder, scratch, torch_python):
    """(what, the program alone, Kymo's commands, the peer's name and commands)."""
    profile = [str(bin_folder / "tools/profile"), "--output_dir=out"]
    memory = profile + ["--activities=cpu", "--profile_memory"]
    allocate = [str(bin_folder / "tests/benchmarks/many_allocations")]
    source = scratch / "large.cc"
    source.write_text(LARGE_SOURCE)
    compile_it = ["clang++", "-std=c++17", "-O1", "-c", str(source), "-o", "large.o"]
    # In a file: heaptrack cannot read a command line of several lines back.
    objects = scratch / "objects.py"
    objects.write_text(PYTHON_PROGRAM)
    python = ["python3", str(objects)]
    large = scratch / "operations.json"
    ranges = [str(bin_folder / "tests/e2e/target"), "ranges", str(RANGES)]
    rows = []
    for what, target in (("heap: 4 million allocations", allocate),
                         ("heap: 300,000 different stacks", [*allocate, "stacks"]),
                         ("heap: clang++ -c", compile_it),
                         ("heap: python3", python)):
        rows.append((what, target, Commands([*memory, *target], needs=target[:1]),
                     "heaptrack", heaptrack(*target)))
    training = scratch / "training.py"
    training.write_text(TORCH_TRAINING)
    train = [torch_python, str(training)]
    rows.append(("heap: PyTorch", train,
                 Commands([*memory, *train], needs=[torch_python], modules=["torch"]),
                 "heaptrack", heaptrack(*train)))
    for what, target in (("samples: clang++ -c", compile_it), ("samples: python3", python)):
        for flags in (["-g"], ["--call-graph", "dwarf"]):
            rows.append((what, target, Commands([*profile, *target], needs=target[:1]),
                         "perf " + " ".join(flags), perf(flags, *target)))
    rows.append((f"ranges: {RANGES:,}, table and trace", ranges,
                 Commands([*profile, "--activities=cpu", *ranges]), "PyTorch's profiler",
                 Commands([torch_python, "-c", TORCH_PROGRAM], needs=[torch_python],
                          modules=["torch"])))
    rows.append(("table of a million operations", ["true"],
                 Commands([str(bin_folder / "tools/report"), str(large)],
                          prepare=lambda: write_operations(large, 1_000_000)),
                 "python3 json.load",
                 Commands(["python3", "-c",
                           f"import json; print(len(json.load(open({str(large)!r}))['traceEvents']))"])))
    return rows


def write_operations(path, count):
    """Operations of one thread as Kineto writes them, nested three deep."""
    with open(path, "w") as out:
        out.write('{\n  "schemaVersion": 1,\n  "traceEvents": [')
        for i in range(count):
            depth = i % 3
            begin = 4353493034386002 + (i - depth) * 10123 + depth * 1001
            duration = 25003 - 8001 * depth
            out.write(f"""{"," if i else ""}
  {{
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::op_{i % 97}",
    "pid": 28857,
    "tid": 28857,
    "ts": {begin // 1000}.{begin % 1000:03},
    "dur": {duration // 1000}.{duration % 1000:03}
    ,
    "args": {{
      "External id": {i + 1},"Record function id": 0, "Ev Idx": {i}
    }}
  }}""")
        out.write("\n  ]\n}\n")


def measure(commands, scratch, keep, limit=float("inf")):
    folder = pathlib.Path(tempfile.mkdtemp(dir=keep or scratch))
    try:
        return commands.run(folder, limit)
    finally:
        if not keep:
            shutil.rmtree(folder)


def take_turns(repeat, ours, theirs, target, scratch, flags):
    """The runs of each; those of a peer that is too slow are None."""
    runs = ([], [], [])
    for _ in range(repeat):
        runs[0].append(measure(ours, scratch, flags.keep))
        if runs[1] is not None:
            try:
                runs[1].append(measure(theirs, scratch, flags.keep, flags.limit))
            except TooSlow:
                runs = (runs[0], None, runs[2])
        runs[2].append(measure(Commands(target), scratch, None))
    return runs


def cell(runs):
    seconds, cpu, peak, written = (statistics.median(values) for values in zip(*runs))
    return f"{seconds:.2f} s, {cpu:.2f} s CPU, {peak:.0f} MiB, {written:.1f} MiB written"


def ratio(runs, others, column):
    """Of the medians; the least and the largest of single turns."""
    medians = [statistics.median(run[column] for run in turns) for turns in (runs, others)]
    single = [a[column] / b[column] for a, b in zip(runs, others)]
    return f"{medians[0] / medians[1]:.2g} ({min(single):.2g} to {max(single):.2g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose text this is found in")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS",
                        help="how long a peer may take")
    parser.add_argument("--keep", help="a folder in which all files stay")
    parser.add_argument("--bin", type=pathlib.Path,
                        help="where the programs are built; they are built otherwise")
    parser.add_argument("--torch-python", default="python3", metavar="PROGRAM",
                        help="a Python that has torch")
    flags = parser.parse_args()
    if flags.bin is None:
        subprocess.run([ROOT / "bazelw", "build"] +
                       ["//" + ":".join(t.rsplit("/", 1)) for t in TARGETS],
                       cwd=ROOT, check=True)
        flags.bin = ROOT / "bazel-bin"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        print("| question | alone | Kymo | peer | Kymo : peer | CPU time, Kymo : peer |")
        print("|---|---|---|---|---|---|")
        for what, target, ours, peer, theirs in make_rows(
                flags.bin.resolve(), scratch, flags.torch_python):
            if not re.search(flags.only, f"{what} {peer}"):
                continue
            missing = ours.missing() + theirs.missing()
            if missing:
                print(f"| {what} | | | {peer} | {', '.join(missing)} missing | |")
                continue
            ours.prepare()
            kymo, other, alone = take_turns(flags.repeat, ours, theirs, target, scratch, flags)
            seconds = statistics.median(r[0] for r in alone)
            row = f"| {what} | {seconds:.2f} s | {cell(kymo)} | {peer}: "
            if other is None:
                most = max(run[0] for run in kymo) / flags.limit
                row += f"more than {flags.limit:g} s | less than {most:.2g} | not measured |"
            else:
                row += f"{cell(other)} | {ratio(kymo, other, 0)} | {ratio(kymo, other, 1)} |"
            print(row, flush=True)


if __name__ == "__main__":
    main()
