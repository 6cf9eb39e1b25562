"""`import kymo` of the wheel, with DuckDB, pandas and pyarrow as readers."""

import concurrent.futures
import gc
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings

import duckdb
import pyarrow
import pyarrow.parquet

from tests.e2e.consumers import recorded

PREFIX = tempfile.TemporaryDirectory()
WHEEL, = pathlib.Path(os.environ["KYMO_WHEEL"]).glob("*.whl")
# What a program does that has no other package.
ENDLESS = ("with recursive n(i) as (select 1 union all select i + 1 from n) "
           "select count(*) from n")


def setUpModule():
    """Installs the wheel as pip does it, beside the viewers."""
    global kymo
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
         "--no-deps", "--no-compile", "--no-warn-script-location",
         "--disable-pip-version-check", f"--prefix={PREFIX.name}", WHEEL],
        check=True, timeout=120)
    place, = pathlib.Path(PREFIX.name).glob("lib/python*/site-packages")
    sys.path.insert(0, str(place))
    import kymo


def tearDownModule():
    PREFIX.cleanup()


def report(*words):
    return subprocess.run([f"{PREFIX.name}/bin/kymo", "report", *words],
                          capture_output=True, text=True, timeout=60,
                          check=False)


class PackageCase(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.recorded = recorded.write_gpu_trace(scratch.name, "chrome",
                                                "parquet")
        cls.path = str(cls.recorded.path("trace.json"))
        cls.trace = kymo.load(cls.path)


class ReadersTest(PackageCase):

    def wanted(self):
        """{name: (count, total)} of the host's ranges in summary.json."""
        return {name: (row["count"], row["cpu_time_total_ns"])
                for name, row in self.recorded.rows.items()
                if not row["is_device"] and name != recorded.STEPS}

    def test_duckdb_reads_a_table_by_its_variable(self):
        events = self.trace.events
        rows = duckdb.sql(
            "select name, count(*)::bigint, sum(dur_ns)::bigint from events "
            "where name not like 'ProfilerStep#%' and device is null "
            "group by name").fetchall()
        self.assertEqual({row[0]: row[1:] for row in rows}, self.wanted())
        self.assertTrue(events)

    def test_duckdb_joins_a_result_with_a_table(self):
        sums = self.trace.sql(
            "select name, sum(dur_ns) as total from events group by name")
        events = self.trace.events.select("name", "dur_ns")
        rows = duckdb.sql(
            "select name, any_value(total), sum(dur_ns)::bigint "
            "from events join sums using (name) group by name").fetchall()
        self.assertTrue(sums and events and rows)
        for name, total, summed in rows:
            self.assertEqual(total, summed, name)

    def test_pandas_has_the_same_sums(self):
        frame = self.trace.events.to_pandas()
        host = frame[frame.device.isna()
                     & ~frame.name.str.startswith("ProfilerStep#")]
        sums = host.groupby("name").dur_ns.agg(["count", "sum"])
        self.assertEqual({name: tuple(row) for name, row
                          in zip(sums.index, sums.itertuples(index=False))},
                         self.wanted())

    def test_tables_are_those_of_parquet(self):
        """Names, types, order and values of each table."""
        folder = self.recorded.path("parquet")
        trace = kymo.load(folder)
        for name in trace.tables:
            file, = folder.glob(f"{name}/*/*/*.parquet")
            with open(file, "rb") as opened:
                wanted = pyarrow.parquet.read_table(opened)
            found = pyarrow.table(getattr(trace, name))
            found.validate(full=True)
            # Readers of Parquet take the rank from the folder's name.
            found = found.select([column for column in found.column_names
                                  if (name, column) != ("ranks", "rank")])
            self.assertTrue(found.schema.equals(wanted.schema), name)
            # A trace has texts that no table names; the made one's metadata
            # are in no order.
            if name not in ("names", "metadata"):
                self.assertEqual(found.to_pylist(), wanted.to_pylist(), name)

    def test_python_reads_rows_itself(self):
        for name in self.trace.tables:
            table = getattr(self.trace, name)
            arrow = pyarrow.table(table)
            self.assertEqual(list(table), arrow.to_pylist(), name)
            self.assertEqual(len(table), len(arrow))
            self.assertEqual(table.columns, arrow.column_names)
        types = self.trace.events.types
        self.assertEqual((types["name"], types["step"], types["is_open"]),
                         ("text", "int64", "bool"))
        result = self.trace.sql(
            "select 1 as a, 2.5 as b, 'x' as c, null as d union all "
            "select null, 3, 'y\xe9', null")
        self.assertEqual(result.types, {"a": "int64", "b": "double",
                                        "c": "text", "d": "null"})
        self.assertEqual(list(result), [
            {"a": 1, "b": 2.5, "c": "x", "d": None},
            {"a": None, "b": 3.0, "c": "y\xe9", "d": None}])

    def test_key_averages_are_those_of_the_summary_and_of_the_command(self):
        averages = kymo.key_averages(self.path)
        self.assertEqual(
            {row["name"]: (row["count"], round(row["cpu_time_total_us"] * 1000))
             for row in averages
             if not row["is_device"] and row["name"] != recorded.STEPS},
            self.wanted())
        self.assertEqual(str(averages), report(self.path).stdout)
        flags = {"sort_by": "count", "row_limit": 2, "category": "cpu_op"}
        words = [f"--{name}={value}" for name, value in flags.items()]
        chosen = kymo.key_averages(self.path, **flags)
        self.assertEqual(len(chosen), 2)
        self.assertEqual(chosen.table(), report(*words, self.path).stdout)
        self.assertEqual(len(pyarrow.table(chosen)), 2)

    def test_flags_choose_events(self):
        chosen = kymo.load(self.path, category=["kernel", "gpu_memcpy"])
        rows = list(chosen.sql("select distinct category from events"))
        self.assertTrue(rows)
        self.assertLessEqual({row["category"] for row in rows},
                             {"kernel", "gpu_memcpy"})
        self.assertEqual(len(chosen.events), chosen.sql(
            "select id from events").__len__())

    def test_the_document_tells_the_truth(self):
        text = pathlib.Path("docs/query.md").read_text(encoding="utf-8")
        code, = re.findall(r"```python\n(.*?)```", text, re.S)
        ran = subprocess.run(
            [sys.executable, "-c", code.replace("kymo-out/run", self.path)],
            env=dict(os.environ, PYTHONPATH=os.path.dirname(
                os.path.dirname(kymo.__file__))),
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        self.assertIn("ProfilerStep", ran.stdout)


class LifeTest(PackageCase):

    def test_streams_outlive_what_they_are_of(self):
        trace = kymo.load(self.path)
        wanted = pyarrow.table(trace.events)
        result = trace.sql("select * from events")
        streams = [pyarrow.RecordBatchReader.from_stream(table)
                   for table in (trace.events, result)]
        trace.close()
        with self.assertRaisesRegex(kymo.Error, "closed"):
            trace.sql("select 1")
        with self.assertRaisesRegex(kymo.Error, "closed"):
            list(trace.events)
        del trace, result
        gc.collect()
        events, rows = (stream.read_all() for stream in streams)
        self.assertEqual(events, wanted)
        self.assertEqual(rows["id"], wanted["id"])

    def test_streams_may_be_dropped_unread_or_half_read(self):
        trace = kymo.load(self.path)
        for table in (trace.events, trace.sql("select * from names")):
            capsule = table.__arrow_c_stream__()
            del capsule
            schema = table.__arrow_c_schema__()
            self.assertEqual(pyarrow.schema(table).names, table.columns)
            del schema
            rows = iter(table)
            first = next(rows)
            del rows
            reader = pyarrow.RecordBatchReader.from_stream(table)
            batch = reader.read_next_batch()
            reader.close()
            del reader
            gc.collect()
            self.assertEqual(batch.to_pylist()[0], first)

    def test_threads_read_at_the_same_time(self):
        trace = kymo.load(self.path)
        wanted = pyarrow.table(trace.events)
        found = []

        def read():
            found.append(pyarrow.table(trace.events))
            found.append(len(trace.sql("select * from events")))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 8)
        for each in found:
            self.assertIn(each, (wanted, len(wanted)))

    def test_a_trace_may_be_closed_while_it_answers(self):
        trace = kymo.load(self.path, sql_max_seconds=1)
        tables = ", ".join(f"events e{i}" for i in range(12))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = pool.submit(trace.sql, f"select count(*) from {tables}")
            time.sleep(0.2)  # the query runs
            trace.close()
            kymo.load(self.path)  # takes the memory that is free
            with self.assertRaisesRegex(kymo.Error, "longer than 1 s"):
                asked.result()

    def test_an_iterator_opens_nothing_before_its_first_row(self):
        table = self.trace.events.select("name")
        with unittest.mock.patch.object(kymo._library, "table") as opened:
            iter(table)
            opened.assert_not_called()

    def test_others_see_of_the_library_what_python_calls(self):
        """Names of the C++ library are the same for all."""
        library, = pathlib.Path(PREFIX.name).glob(
            "libexec/kymo/libkymo_python.so")
        names = subprocess.run(["nm", "-D", "--defined-only", library],
                               check=True, capture_output=True,
                               text=True).stdout.split("\n")[:-1]
        # Small letters are local names.
        own = [line for line in names
               if "_ZNSt" not in line and line.split()[1].isupper()]
        self.assertTrue(own)
        for line in own:
            self.assertIn(" T kymo_python_", line)


class ErrorsTest(PackageCase):

    def message(self, call, *arguments, **flags):
        with self.assertRaises(kymo.Error) as caught:
            call(*arguments, **flags)
        return str(caught.exception)

    def test_errors_are_the_sentences_of_the_command(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        other = pathlib.Path(folder.name, "other")
        other.write_bytes(b"\0\xff nothing that anyone knows")
        cut = pathlib.Path(folder.name, "cut.parquet")
        cut.write_bytes(b"PAR1" + bytes(100))
        for words, flags in (
                (["/nowhere/trace.json"], {}),
                ([folder.name], {}),
                ([str(other)], {}),
                ([str(cut)], {}),
                ([self.path, "--stpe=3"], {"stpe": 3}),
                ([self.path, "--thread=nobody"], {"thread": "nobody"}),
                ([self.path, "--sql=select nam from events"], None)):
            said = report(*words)
            self.assertNotEqual(said.returncode, 0)
            if flags is None:
                message = self.message(self.trace.sql, "select nam from events")
                # The command's way to look it up is not Python's.
                message += ("\n  .tables and .schema TABLE in the shell "
                            "(--sql=-) show what there is; docs/query.md, too")
            else:
                message = self.message(kymo.load, words[0], **flags)
            self.assertEqual("kymo: " + message + "\n", said.stderr, words)
        with self.assertRaises(FileNotFoundError):
            kymo.load("/nowhere/trace.json")

    def test_a_query_can_only_read_and_has_limits(self):
        self.assertIn("only read", self.message(
            self.trace.sql, "attach 'x' as y"))
        self.assertIn("more than one statement", self.message(
            self.trace.sql, "select 1; select 2"))
        self.assertIn("empty", self.message(self.trace.sql, ""))
        self.message(self.trace.sql, "select '\0'")
        limited = kymo.load(self.path, sql_max_seconds=1, sql_max_mib=1)
        self.assertIn("longer than 1 s", self.message(limited.sql, ENDLESS))
        self.assertIn("1 MiB", self.message(
            limited.sql, "with recursive n(i) as (select 1 union all "
            "select i + 1 from n limit 500000) select i, i as j from n"))
        # It answers again.
        self.assertEqual(list(limited.sql("select 1 as a")), [{"a": 1}])

    def test_control_c_ends_a_query(self):
        def interrupt():
            # The query runs, or is about to.
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)

        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, handler)
        thread = threading.Thread(target=interrupt)
        limited = kymo.load(self.path, sql_max_seconds=60)
        with self.assertRaises(KeyboardInterrupt):
            thread.start()
            limited.sql(ENDLESS)
        thread.join()
        self.assertEqual(list(limited.sql("select 1 as a")), [{"a": 1}])

    def test_what_there_is_not_is_named(self):
        with self.assertRaisesRegex(AttributeError, "tables are: events"):
            self.trace.eventz
        self.assertIn("it has: id, ", self.message(
            self.trace.events.select, "nme"))
        self.assertIn("slowest_steps", self.message(self.trace.query, "nothing"))
        self.assertIn("use the command", self.message(
            kymo.load, self.path, check=True))
        self.assertIn("no exporter", self.message(
            kymo.load, self.path, export="html"))
        with self.assertRaises(TypeError):
            kymo.load()
        with self.assertRaises(ValueError):
            kymo.load("a\0b")

    def test_findings_are_warnings(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cut = pathlib.Path(folder.name, "trace.json")
        cut.write_bytes(pathlib.Path(self.path).read_bytes()[:-2000])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trace = kymo.load(cut)
        self.assertTrue(caught)
        self.assertEqual(caught[0].filename, __file__)
        self.assertEqual([str(each.message) for each in caught],
                         trace.findings)
        said = report(str(cut)).stderr
        for finding in trace.findings:
            self.assertIn(finding, said)

    def test_strange_names_are_texts(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(os.fsdecode(os.fsencode(folder.name) + b"/\xff.json"))
        path.write_text(
            '{"traceEvents": [{"ph": "X", "name": "\\u0000\\ud800 \\" \\u00e9",'
            ' "ts": 1, "dur": 2, "pid": 1, "tid": 1, "cat": "cpu_op"}]}')
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = kymo.load(path)
        name, = (row["name"] for row in trace.events)
        self.assertEqual(pyarrow.table(trace.events)["name"].to_pylist(),
                         [name])
        self.assertEqual((name[0], name[-3:]), ("\0", '" \xe9'))


class CommandTest(PackageCase):

    def run_command(self, *words):
        return subprocess.run(
            [sys.executable, "-m", "kymo", *words],
            env={"PYTHONPATH": os.path.dirname(os.path.dirname(kymo.__file__)),
                 "PATH": os.environ["PATH"]},
            capture_output=True, text=True, timeout=60, check=True).stdout

    def test_python_runs_the_command(self):
        self.assertEqual(self.run_command("--version"),
                         f"kymo {kymo.__version__}\n")

    def test_the_program_does_not_inherit_what_python_ignores(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_command(f"--output_dir={folder}", "--", "grep",
                                    "SigIgn", "/proc/self/status")
        ignored = int(said.split()[1], 16)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            self.assertEqual(ignored >> (number - 1) & 1, 0, number)


if __name__ == "__main__":
    unittest.main()
