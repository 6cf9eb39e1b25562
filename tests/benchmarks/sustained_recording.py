#!/usr/bin/env python3
"""Measures recording for long, into a collector that drains to disk.

    tests/benchmarks/sustained_recording.py [--seconds=5] [--threads=1,2] \
        [--millions=24] [--flags="--cpu_max_disk=256MiB"] [DIRECTORY ...]

Runs a program whose threads record plain ranges, --millions a second together
or as fast as they can (then no core is left to the collector), under
//tools:profile, and prints a row for each number of threads and each directory
to drain to: one of /dev/shm, which is memory, and one of a real disk say what
the disk costs. Lost is what the ledger says, and what the table has less than
the program has counted. The collector's CPU time is that while the program ran.
Memory and disk are the most that the collector had at any time: its resident
set while the program ran, the same until its end, and the blocks of its files.
--flags are more flags of //tools:profile.
"""

import argparse
import json
import os
import pathlib
import stat
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


def resident_mib(pid):
    """The most that the process has had."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def disk_mib(pid):
    """What the files take that the process has open."""
    blocks = {}
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            about = link.stat()
            if "memfd:" in os.readlink(link):
                continue
        except OSError:
            continue
        if stat.S_ISREG(about.st_mode):
            blocks[about.st_dev, about.st_ino] = about.st_blocks
    return sum(blocks.values()) * 512 / 2**20


class Watch:
    """What the collector took, MiB."""

    def __init__(self):
        self.memory_while_it_ran = 0
        self.memory = 0
        self.disk = 0

    def look(self, pid):
        try:
            self.memory = max(self.memory, resident_mib(pid))
            self.disk = max(self.disk, disk_mib(pid))
        except (OSError, IndexError):
            pass  # it has ended


def collector_cpu_seconds(process, watch):
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
        watch.look(process.pid)
        time.sleep(0.02)
    watch.memory_while_it_ran = watch.memory
    while process.poll() is None:
        watch.look(process.pid)
        time.sleep(0.02)
    return seconds


def measure(binaries, threads, options, directory):
    """Ranges, their time, the collector's CPU time, what was lost, Watch."""
    watch = Watch()
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        out = os.path.join(scratch, "out")
        process = subprocess.Popen(
            [str(binaries / PROFILE), "--activities=cpu", "--export=",
             "--quiet", f"--output_dir={out}", *options.flags.split(),
             str(binaries / TARGET),
             str(threads), str(options.seconds), str(options.millions)],
            stdout=subprocess.PIPE, text=True)
        cpu = collector_cpu_seconds(process, watch)
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
    return count, took_ns / 1e9, cpu, count - shown, losses, watch


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", metavar="DIRECTORY",
                        default=["/dev/shm", tempfile.gettempdir()])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--millions", type=float, default=0)
    parser.add_argument("--flags", default="")
    parser.add_argument("--bin",
                        help="where the binaries are; not built then")
    options = parser.parse_args()
    binaries = pathlib.Path(options.bin) if options.bin else build()
    print("| threads | drained to | million ranges a second | ns a range and "
          "thread | GB/s | collector, of a core | lost | MiB while it ran; "
          "in all | MiB of disk |")
    print("|---|---|---|---|---|---|---|---|---|")
    for threads in (int(n) for n in options.threads.split(",")):
        for directory in options.directories:
            count, took, cpu, missing, losses, watch = measure(
                binaries, threads, options, directory)
            lost = f"{missing}" + "".join(
                f", {name} {n}" for name, n in losses.items())
            print(f"| {threads} | {directory} | {count / took / 1e6:.1f} "
                  f"| {took * threads / count * 1e9:.1f} "
                  f"| {count * 32 / took / 1e9:.2f} "
                  f"| {cpu / took * 100:.0f} % | {lost} "
                  f"| {watch.memory_while_it_ran:.0f}; {watch.memory:.0f} "
                  f"| {watch.disk:.0f} |", flush=True)


if __name__ == "__main__":
    main()
