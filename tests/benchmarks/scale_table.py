#!/usr/bin/env python3
"""Measures what post-processing costs and prints the table of docs/overhead.md.

    tests/benchmarks/scale_table.py [--large] [--windows=DIRECTORY]

--large adds 100 million ranges, which take 12 GiB of memory; --windows reads
200 million ranges from a file of 6 GiB in DIRECTORY, limited to 2 GiB of
address space. Everything takes about ten minutes on an idle machine. On another
one wall times say nothing; --cpu has CPU time instead, of two cores halved:
what an idle machine would take if nothing waited.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARK = "tests/benchmarks/pipeline_benchmark"
WRITER = "tests/benchmarks/write_recording"
REPORT = "tools/report"
MILLION = 1_000_000
WINDOWS_RANGES = 200 * MILLION
WINDOWS_LIMIT_BYTES = 2 << 30

# What, benchmark, aim in ns, bytes read, bytes written to new memory, and what
# is in the way.
ROWS = [
    (
        "chunks to a trace",
        "BM_ChunksToTrace",
        12,
        32 + 32 + 21,
        31 + 12,
        "new pages, and columns that leave the cache between decoding and "
        "nesting",
    ),
    (
        "the same, one thread's",
        "BM_ChunksToTrace_OneThread",
        12,
        32 + 32 + 21,
        31 + 12,
        "the same",
    ),
    (
        "averages by name",
        "BM_KeyAverages",
        8,
        26,
        0,
        "two sums per event, its own group's and its parent's, one after the "
        "other if these are the same",
    ),
    (
        "averages by shape",
        "BM_KeyAverages_ByShape",
        40,
        26 + 4 + 64,
        0,
        "a hash table's probe per event, and details of 64 bytes",
    ),
    (
        "averages by five innermost frames",
        "BM_KeyAverages_ByStackOf5",
        40,
        26 + 4 + 64,
        0,
        "the same",
    ),
    (
        "in a program, from `Stop()` to averages",
        "BM_StopToKeyAverages",
        25,
        32 + 32 + 21 + 26,
        31 + 12,
        "new pages, and the two passes of decoding",
    ),
]


def build(binaries):
    """Builds, and returns where binaries are."""
    targets = [
        "//" + ":".join(b.rsplit("/", 1)) for b in binaries
    ]
    bazel = [str(ROOT / "bazelw")]
    subprocess.run(bazel + ["build"] + targets, cwd=ROOT, check=True)
    info = subprocess.run(
        bazel + ["info", "bazel-bin"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return pathlib.Path(info.stdout.strip())


def run_benchmark(binary, repetitions, name_filter, more_ranges=None):
    """Counters by (benchmark, ranges or bytes, cores), the least of all."""
    environment = dict(os.environ)
    if more_ranges:
        environment["KYMO_PIPELINE_RANGES"] = str(more_ranges)
    done = subprocess.run(
        [
            str(binary),
            "--benchmark_format=json",
            f"--benchmark_repetitions={repetitions}",
            f"--benchmark_filter={name_filter}",
        ],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    best = {}
    for result in json.loads(done.stdout)["benchmarks"]:
        if result["run_type"] != "iteration" or "ns_per_range" not in result:
            continue
        name, size, cores = result["name"].split("/")[:3]
        key = (name, int(size.split(":")[1]), int(cores.split(":")[1]))
        counters = {
            k: v for k, v in result.items() if k.endswith("_per_range")
        }
        known = best.setdefault(key, counters)
        for counter, value in counters.items():
            known[counter] = min(known[counter], value)
    return best


def value_of(best, key, counter):
    """A counter; CPU time of two cores is halved."""
    value = best[key][counter]
    return value / key[2] if counter == "cpu_ns_per_range" else value


def print_rows(best, counter, ranges):
    """The table of the stages, two cores beside one."""

    def of(name, size, cores):
        return value_of(best, (name, size, cores), counter)

    memory = 256 << 20
    print(
        "| ns an event, 10 million | one core | two cores | gain | aim on two "
        "| limit of memory on two | times the limit | in the way |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for what, name, aim, read, written, in_the_way in ROWS:
        one = of(name, ranges, 1)
        two = of(name, ranges, 2)
        # Reading is half of a copy.
        limit = read * of("BM_CopyMemory", memory, 2) / 2 + written * of(
            "BM_TouchNewMemory", memory, 2
        )
        print(
            f"| {what} | {one:.1f} | {two:.1f} | {one / two:.2f} x "
            f"| {aim or ''} | {limit:.1f} | {two / limit:.1f} "
            f"| {in_the_way} |"
        )
    print()
    for cores in (1, 2):
        copy = of("BM_CopyMemory", memory, cores)
        touch = of("BM_TouchNewMemory", memory, cores)
        print(
            f"Memory, {cores} core(s): a copy {1 / copy:.1f} GB/s, the first "
            f"write to new memory {1 / touch:.1f} GB/s."
        )
    trace = best[("BM_ChunksToTrace", ranges, 2)]["bytes_per_range"]
    print(f"A trace takes {trace:.0f} bytes an event, and its names; aim 40.")


def print_large(binary, counter, best):
    """100 million ranges against 10 million, on two cores."""
    stages = ("BM_ChunksToTrace", "BM_KeyAverages")
    large = run_benchmark(
        binary,
        2,
        "^(" + "|".join(stages) + ")/ranges:100000000/cores:2",
        100 * MILLION,
    )
    for stage in stages:
        ratio = (
            10
            * value_of(large, (stage, 100 * MILLION, 2), counter)
            / value_of(best, (stage, 10 * MILLION, 2), counter)
        )
        print(f"{stage}: 100 million take {ratio:.1f} x 10 million; aim 10.5.")


def print_windows(folder, writer, report):
    """200 million ranges in 2 GiB of address space."""

    def limit_memory():
        limits = (WINDOWS_LIMIT_BYTES, WINDOWS_LIMIT_BYTES)
        resource.setrlimit(resource.RLIMIT_AS, limits)

    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        recording = os.path.join(scratch, "kymo.raw")
        subprocess.run(
            [str(writer), str(WINDOWS_RANGES), recording], check=True
        )
        out = os.path.join(scratch, "out")
        begin = time.monotonic()
        process = subprocess.Popen(
            [str(report), recording, "--export=stacks", "--output_dir=" + out],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=limit_memory,
        )
        table = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        stacks = pathlib.Path(out, "stacks.folded")
        lines = 0
        if stacks.exists():
            lines = stacks.read_bytes().count(b"\n")
        rows = sum("operation_" in line for line in table.splitlines())
        cpu = usage.ru_utime + usage.ru_stime
        print(
            f"{WINDOWS_RANGES // MILLION} million ranges in "
            f"{os.path.getsize(recording) / 1e9:.1f} GB, limited to 2 GiB: "
            f"status {status}, {rows} rows of the table, {lines} stacks, "
            f"{seconds:.1f} s ({seconds / WINDOWS_RANGES * 1e9:.1f} ns a "
            f"range), {cpu:.1f} s of CPU time, "
            f"{usage.ru_maxrss / 1024:.0f} MiB at the peak."
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--windows", metavar="DIRECTORY")
    parser.add_argument(
        "--cpu", action="store_true", help="CPU time instead of wall time"
    )
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--bin", help="where the binaries are; they are not built then"
    )
    options = parser.parse_args()
    folder = (
        pathlib.Path(options.bin)
        if options.bin
        else build([BENCHMARK, WRITER, REPORT])
    )
    counter = "cpu_ns_per_range" if options.cpu else "ns_per_range"
    best = run_benchmark(
        folder / BENCHMARK,
        options.repetitions,
        "ranges:10000000/|bytes:",
    )
    print_rows(best, counter, 10 * MILLION)
    sys.stdout.flush()
    if options.large:
        print_large(folder / BENCHMARK, counter, best)
    if options.windows:
        print_windows(options.windows, folder / WRITER, folder / REPORT)


if __name__ == "__main__":
    main()
