"""How exact the clocks of ranks are, by jobs whose clocks are known to differ.

    tests/mpi/how_exact.py --kymo=bazel-bin/tools/kymo --mpi=mpich --jobs=500

Each job has two ranks in time name spaces, 0 to 100 s apart. Two measurements
of a job are judged: the true offset must be within the bound. And so must be
the times in the job's timeline, for which each rank writes what its clock says
around its calls. Takes root.
"""

import argparse
import decimal
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = dict(
    os.environ, OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def events_of(trace):
    """Of a trace.json: by rank, its clocks and the times of its barriers."""
    data = json.loads(trace.read_text(), parse_float=decimal.Decimal)
    events = data["traceEvents"]
    base = data.get("baseTimeNanoseconds", 0)
    ranks = {event["pid"]: event["args"]["rank"] for event in events
             if event.get("name") == "MPI ranks"}
    clocks = {rank: [] for rank in ranks.values()}
    barriers = {rank: [] for rank in ranks.values()}
    for event in events:
        if event.get("name") == "MPI clock":
            clocks[ranks[event["pid"]]].append(event["args"])
        elif event.get("name") == "MPI_Barrier" and event["ph"] == "X":
            begin = base + int(event["ts"] * 1000)
            barriers[ranks[event["pid"]]].append(
                (begin, begin + int(event["dur"] * 1000)))
    return clocks, {rank: sorted(times) for rank, times in barriers.items()}


def shift_of(barriers, said):
    """By how much the trace's times are ahead of the rank's clock: at least
    and at most. A call begins after the look before it."""
    times = [[int(word) for word in line.split()]
             for line in said.read_text().splitlines()]
    pairs = list(zip(barriers, times, strict=True))
    return (max(end - after for (_, end), (_, after) in pairs),
            min(begin - before for (begin, _), (before, _) in pairs))


def run_job(options, program, seconds):
    """By how much each measurement's offset, and the timeline, are wrong, and
    the bounds: [(error, bound)], (error at least, bound)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        said = folder / "said"
        said.mkdir()
        subprocess.run(
            [f"mpirun.{options.mpi}", "-n", "2", "sh", "-c",
             "exec unshare -T --monotonic=$(("
             f"{seconds} * (OMPI_COMM_WORLD_RANK + PMI_RANK))) \"$@\"", "sh",
             options.kymo, "profile", "--ranks", "--activities=cpu,mpi",
             "--export=chrome", f"--output_dir={folder / 'job'}", program,
             said], check=True, env=ENVIRONMENT, timeout=120,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        own, _ = events_of(folder / "job/rank-1/trace.json")
        measured = [(abs(clock["offset_ns"] + seconds * 10**9),
                     clock["bound_ns"]) for clock in own[1]]
        clocks, barriers = events_of(folder / "job/trace.json")
        least, most = shift_of(barriers[0], said / "0")
        least_1, most_1 = shift_of(barriers[1], said / "1")
        # Rank 1's clock is ahead of rank 0's.
        ahead = seconds * 10**9
        wrong = max(least_1 + ahead - most, least - most_1 - ahead, 0)
        bound = max(clock["bound_ns"] for clock in clocks[1])
        return measured, (wrong, bound + max(
            clock["bound_ns"] for clock in clocks[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kymo", required=True)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--jobs", type=int, default=500)
    options = parser.parse_args()
    offsets = []
    timelines = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "clock_truth"
        subprocess.run([f"mpicc.{options.mpi}", "-O1", HERE / "clock_truth.c",
                        "-o", program], check=True)
        for _ in range(options.jobs):
            measured, timeline = run_job(options, program,
                                         random.randint(0, 100))
            offsets += measured
            timelines.append(timeline)
    for name, pairs in [("offsets", offsets), ("timelines", timelines)]:
        inside = sum(error <= bound for error, bound in pairs)
        bounds = sorted(bound for _, bound in pairs)
        print(f"{name}: {inside} of {len(pairs)} within their bounds; bounds "
              f"in us: median {statistics.median(bounds) / 1e3:.2f}, 99 % "
              f"{bounds[len(bounds) * 99 // 100] / 1e3:.2f}, most "
              f"{bounds[-1] / 1e3:.2f}, up to 50 us in "
              f"{sum(bound <= 50_000 for bound in bounds)}; most wrong "
              f"{max(error for error, _ in pairs) / 1e3:.2f}")
    return 0 if all(error <= bound for error, bound in
                    offsets + timelines) else 1


if __name__ == "__main__":
    sys.exit(main())
