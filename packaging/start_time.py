#!/usr/bin/env python3
"""How long the shortest commands take: start_time.py KYMO

Runs each 40 times, in turn, in an empty folder. Prints milliseconds by the
clock and of CPU time, children included. Where others use the machine, only
the least CPU time says something.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

COMMANDS = (["--version"], ["--quiet", "--", "true"], ["--", "true"])
RUNS = 40


def cpu_ms():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def run(command, folder):
    began, began_cpu = time.monotonic(), cpu_ms()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return (time.monotonic() - began) * 1e3, cpu_ms() - began_cpu


def main(kymo):
    kymo = os.path.abspath(kymo)
    times = [[] for _ in COMMANDS]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(RUNS):
            for command, taken in zip(COMMANDS, times):
                taken.append(run([kymo, *command], folder))
    for command, taken in zip(COMMANDS, times):
        by_clock, cpu = map(sorted, zip(*taken))
        print(f"kymo {' '.join(command):18} by the clock: least "
              f"{by_clock[0]:5.1f}, median {by_clock[RUNS // 2]:5.1f};"
              f" CPU time: least {cpu[0]:5.1f}, median {cpu[RUNS // 2]:5.1f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
