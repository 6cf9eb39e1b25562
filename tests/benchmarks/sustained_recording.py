#!/usr/bin/env python3
"""Measures recording for long, into a collector that drains to disk.

    tests/benchmarks/sustained_recording.py [--seconds=5] [--threads=1,2] \
        [--millions=24] [DIRECTORY ...]

Runs a program whose threads record plain ranges, --millions a second together
or as fast as they can (then no core is left to the collector), under
//tools:profile, and prints a row for each number of threads and each directory
to drain to: one of /dev/shm, which is memory, and one of a real disk say what
the disk costs. Lost is what the ledger says, and what the table has less than
the program has counted. The collector's CPU time is that while the program ran.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = "tools/profile"
TARGET = "tests/benchmarks/sustained_target"
TICKS = os.sysconf("SC_CLK_TCK")


def build():
    """Builds, and returns where binaries are."""
    bazel = [str(ROOT / "bazelw")]
    targets = ["//" + ":".join(b.rsplit("/", 1)) for b in (PROFILE, TARGET)]
    subprocess.run(bazel + ["build"] + targets, cwd=ROOT, check=True)
    done = subprocess.run(bazel + ["info", "bazel-bin"], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip())


def cpu_seconds(pid):
    """CPU time of a process so far, without its children's."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(
        encoding="utf-8").rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def has_children(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return bool(path.read_text(encoding="utf-8").strip())


def collector_cpu_seconds(process):
    """Follows the command until its target has ended."""
    seconds = cpu_seconds(process.pid)
    began = False
    while process.poll() is None:
        now = cpu_seconds(process.pid)
        children = has_children(process.pid)
        if began and not children:
            break
        began = began or children
        seconds = now
        time.sleep(0.02)
    return seconds


def measure(binaries, threads, options, directory):
    """Ranges, their time, the collector's CPU time, and what was lost."""
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        out = os.path.join(scratch, "out")
        process = subprocess.Popen(
            [str(binaries / PROFILE), "--activities=cpu", "--export=",
             "--quiet", f"--output_dir={out}", str(binaries / TARGET),
             str(threads), str(options.seconds), str(options.millions)],
            stdout=subprocess.PIPE, text=True)
        cpu = collector_cpu_seconds(process)
        said = process.stdout.read()
        if process.wait() != 0:
            sys.exit(f"the command ended with status {process.returncode}")
        count, took_ns = (int(word) for word in said.split())
        with open(os.path.join(out, "summary.json"),
                  encoding="utf-8") as file:
            summary = json.load(file)
    shown = sum(a["count"] for a in summary["key_averages"]
                if a["name"] == "range")
    losses = {e["name"]: e["count"] for e in summary["ledger"]
              if e["is_loss"] and e["count"]}
    return count, took_ns / 1e9, cpu, count - shown, losses


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", metavar="DIRECTORY",
                        default=["/dev/shm", tempfile.gettempdir()])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--millions", type=float, default=0)
    parser.add_argument("--bin",
                        help="where the binaries are; not built then")
    options = parser.parse_args()
    binaries = pathlib.Path(options.bin) if options.bin else build()
    print("| threads | drained to | million ranges a second | ns a range and "
          "thread | GB/s | collector, of a core | lost |")
    print("|---|---|---|---|---|---|---|")
    for threads in (int(n) for n in options.threads.split(",")):
        for directory in options.directories:
            count, took, cpu, missing, losses = measure(
                binaries, threads, options, directory)
            lost = f"{missing}" + "".join(
                f", {name} {n}" for name, n in losses.items())
            print(f"| {threads} | {directory} | {count / took / 1e6:.1f} "
                  f"| {took * threads / count * 1e9:.1f} "
                  f"| {count * 32 / took / 1e9:.2f} "
                  f"| {cpu / took * 100:.0f} % | {lost} |", flush=True)


if __name__ == "__main__":
    main()
