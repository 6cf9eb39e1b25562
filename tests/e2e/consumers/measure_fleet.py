"""How fast DuckDB averages 1,000 ranks of a million ranges, by hand.

    python3 tests/e2e/kineto_trace.py 1000000 m.json
    kymo report m.json --quiet --sql "select 1" --export=parquet
    python3 tests/e2e/consumers/measure_fleet.py kymo-out/parquet

The ranks are one file under 1,000 names (symbolic links), which takes 9 MB of
disk instead of 9 GB. So it comes from the page cache, and no disk is measured.
Everything else DuckDB does for each rank anew.
"""

import pathlib
import resource
import sys
import tempfile
import time

import duckdb

RANKS = 1000
THREADS = 2
QUERY = ("select name, count(*), avg(dur_ns), sum(self_ns) from events "
         "group by name")


def main():
    file, = pathlib.Path(sys.argv[1]).glob("events/*/*/*.parquet")
    with tempfile.TemporaryDirectory() as scratch:
        for rank in range(RANKS):
            folder = pathlib.Path(scratch, "job=made", f"rank={rank}")
            folder.mkdir(parents=True)
            (folder / "part-0.parquet").symlink_to(file.resolve())
        con = duckdb.connect(config={"threads": THREADS,
                                     "memory_limit": "4GB"})
        con.sql("create view events as select * from read_parquet("
                f"'{scratch}/*/*/*.parquet', hive_partitioning = true)")
        begin, cpu = time.monotonic(), time.process_time()
        rows = con.sql(QUERY).fetchall()
        seconds = time.monotonic() - begin
        cpu = time.process_time() - cpu
    ranges = sum(row[1] for row in rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"DuckDB {duckdb.__version__}: {ranges:,} ranges of {RANKS} ranks, "
          f"{len(rows)} names: {seconds:.1f} s, {cpu:.1f} s of CPU time, "
          f"{ranges / seconds / 1e6:.0f} million ranges a second, {peak} MiB")


if __name__ == "__main__":
    main()
