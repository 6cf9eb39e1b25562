"""DuckDB and pyarrow on Kymo's Parquet files, and docs/fleet.md's questions."""

import glob
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import duckdb
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

from tests.e2e.consumers import recorded

TABLES = ("events", "names", "args", "counters", "processes", "threads",
          "tracks", "samples", "stacks", "frames", "memory",
          "allocations_by_stack", "waits", "device_work", "steps", "ledger",
          "metadata", "ranks", "cpu_limits")


def database(folder):
    """DuckDB with a view for each table, as docs/fleet.md makes them."""
    con = duckdb.connect()
    for table in TABLES:
        con.sql(f"create view {table} as select * from read_parquet("
                f"'{folder}/{table}/*/*/*.parquet', hive_partitioning = true)")
    return con


class ReadersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.recorded = recorded.write_gpu_trace(scratch.name, "parquet")
        cls.folder = cls.recorded.path("parquet")

    def wanted(self):
        """{name: (count, total, self)} of the host's ranges in summary.json."""
        return {name: (row["count"], row["cpu_time_total_ns"],
                       row["self_cpu_time_total_ns"])
                for name, row in self.recorded.rows.items()
                if not row["is_device"] and name != recorded.STEPS}

    def test_sums_in_duckdb_are_those_of_the_summary(self):
        rows = database(self.folder).sql(
            "select name, count(*)::bigint, sum(dur_ns)::bigint, "
            "sum(self_ns)::bigint from events "
            "where name not like 'ProfilerStep#%' and device is null "
            "group by name").fetchall()
        self.assertEqual({row[0]: row[1:] for row in rows}, self.wanted())

    def test_work_of_devices_in_duckdb_is_that_of_the_summary(self):
        rows = database(self.folder).sql(
            "select name, count(*)::bigint, sum(dur_ns)::bigint "
            "from device_work group by name").fetchall()
        self.assertTrue(rows)
        self.assertEqual(
            {row[0]: row[1:] for row in rows},
            {name: (row["count"], row["device_time_total_ns"])
             for name, row in self.recorded.device_activities.items()})

    def test_sums_in_pyarrow_are_those_of_the_summary(self):
        events = pyarrow.dataset.dataset(
            self.folder / "events", partitioning="hive").to_table(
                columns=["name", "dur_ns", "self_ns", "job"],
                filter=pyarrow.compute.field("device").is_null())
        self.assertEqual(events["job"].unique().to_pylist(), ["train"])
        sums = {}
        for row in events.group_by("name").aggregate(
                [("dur_ns", "count"), ("dur_ns", "sum"),
                 ("self_ns", "sum")]).to_pylist():
            if not row["name"].startswith("ProfilerStep#"):
                sums[row["name"]] = (row["dur_ns_count"], row["dur_ns_sum"],
                                     row["self_ns_sum"])
        self.assertEqual(sums, self.wanted())

    def test_every_table_is_read_by_both(self):
        con = database(self.folder)
        for table in TABLES:
            file, = glob.glob(f"{self.folder}/{table}/*/*/*.parquet")
            # One file, without the columns of its folders.
            with open(file, "rb") as opened:
                arrow = pyarrow.parquet.read_table(opened)
            arrow.validate(full=True)
            rows = con.sql(f"select * from read_parquet('{file}', "
                           "hive_partitioning = false)").fetchall()
            self.assertEqual([tuple(row.values())
                              for row in arrow.to_pylist()], rows, table)
            # DuckDB counts by the statistics alone.
            counts = ", ".join(f'count("{name}")' for name in
                               arrow.column_names)
            self.assertEqual(
                con.sql(f"select {counts} from read_parquet('{file}', "
                        "hive_partitioning = false)").fetchall()[0],
                tuple(len(column) - column.null_count
                      for column in arrow.columns), table)

    def test_files_say_what_they_are(self):
        file, = glob.glob(f"{self.folder}/events/*/*/*.parquet")
        about = pyarrow.parquet.ParquetFile(file)
        metadata = about.metadata.metadata
        self.assertEqual(metadata[b"kymo.job"], b"train")
        self.assertIn(b'"unit": "ns"', metadata[b"kymo.columns"])
        group = about.metadata.row_group(0)
        columns = {group.column(i).path_in_schema: group.column(i)
                   for i in range(group.num_columns)}
        events = about.read()
        for name in ("start_ns", "step", "name"):
            found = pyarrow.compute.min_max(events[name]).as_py()
            self.assertEqual(
                (columns[name].statistics.min, columns[name].statistics.max,
                 columns[name].statistics.null_count),
                (found["min"], found["max"], events[name].null_count), name)
        # Each page has a checksum, which pyarrow verifies if told so.
        pyarrow.parquet.ParquetFile(
            file, page_checksum_verification=True).read()


class FleetTest(unittest.TestCase):
    """Each question of docs/fleet.md, on a fleet of two jobs of two ranks."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name) / "parquet"
        con = duckdb.connect()
        subprocess.run([recorded.GPU_WRITER, scratch.name, "parquet"],
                       timeout=60, check=True)
        cls.copy_ranks(con)
        cls.con = database(cls.folder)

    @classmethod
    def copy_ranks(cls, con):
        """More ranks and jobs: copies of the one with other times."""
        for file in glob.glob(f"{cls.folder}/*/*/*/*.parquet"):
            table = pathlib.Path(file).relative_to(cls.folder).parts[0]
            read = f"read_parquet('{file}', hive_partitioning = false)"
            names = {name for name, *_ in
                     con.sql(f"describe select * from {read}").fetchall()}
            for job, rank, days, factor in (("train", 0, 0, 1),
                                            ("train", 1, 0, 2),
                                            ("tuned", 0, 7, 1),
                                            ("tuned", 1, 7, 1)):
                changed = {name: f"{name} + {days * 86_400_000_000_000}"
                           for name in ("start_ns", "end_ns", "time_ns")}
                changed |= {name: f"{name} * {factor}"
                            for name in ("dur_ns", "self_ns")}
                changed["host"] = f"'node{rank}'"
                out = cls.folder / table / f"job={job}" / f"rank={rank}"
                out.mkdir(parents=True)
                if not names & changed.keys():
                    shutil.copy(file, out)
                    continue
                made = ", ".join(f"{value} as {name}"
                                 for name, value in changed.items()
                                 if name in names)
                pyarrow.parquet.write_table(
                    con.sql(f"select * replace ({made}) from {read}").arrow()
                    .read_all(), out / "part-0.parquet", compression="zstd")
            shutil.rmtree(cls.folder / table / "job=train" / "rank=3")
        con.sql("copy (select 'samples_lost' as name, 3::bigint as count, "
                "true as is_loss, 'samples' as meaning) to "
                f"'{cls.folder}/ledger/job=train/rank=1/part-0.parquet' "
                "(format parquet, compression zstd)")

    def questions(self):
        """{heading: query} of the page."""
        text = pathlib.Path("docs/fleet.md").read_text(encoding="utf-8")
        found = re.findall(r"^### (.+?)\n.*?```sql\n(.*?)```", text,
                           re.M | re.S)
        return dict(found)

    def test_there_are_ten_questions_and_duckdb_answers_each(self):
        questions = self.questions()
        self.assertEqual(len(questions), 10)
        for question, query in questions.items():
            with self.subTest(question):
                rows = self.con.sql(query).fetchall()
                self.assertTrue(rows, question)

    def ask(self, words):
        query, = (query for question, query in self.questions().items()
                  if words in question)
        return self.con.sql(query).fetchall()

    def test_the_slow_rank_is_found(self):
        slowest = self.ask("slowest steps")[0]
        self.assertEqual(slowest[:2], ("train", 1))
        late = self.ask("rank is slower")[0]
        self.assertEqual(late[:2], ("train", 1))
        self.assertEqual(late[-1], 2.0)

    def test_changes_between_two_jobs_are_found(self):
        for row in self.ask("What changed"):
            self.assertLess(row[2], row[1])


if __name__ == "__main__":
    unittest.main()
