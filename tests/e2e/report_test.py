"""//tools:report on traces that PyTorch and Kymo wrote, and on broken ones."""

import contextlib
import csv
import gzip
import io
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

from tests.e2e import kineto_trace

REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
TESTDATA = pathlib.Path("tests/conformance/testdata").resolve()

# A process of its own: the peak of a child counts what its parent had.
MEASURE = """
import resource, subprocess, sys
returncode = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(end=f"{returncode} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
"""

# How PyTorch's tables of real programs were asked for, by file name.
PYTORCH_TABLES = {
    "key_averages.default": ["--sort_by="],
    "key_averages.count": ["--sort_by=count", "--row_limit=10"],
    "key_averages.cpu_time": ["--sort_by=cpu_time", "--row_limit=10"],
    "key_averages.cpu_time_total": [
        "--sort_by=cpu_time_total", "--row_limit=10"],
    "key_averages.self_cpu_time_total": [
        "--sort_by=self_cpu_time_total", "--row_limit=10"],
    "key_averages.cpu_memory_usage": [
        "--sort_by=cpu_memory_usage", "--row_limit=15"],
    "key_averages.self_cpu_memory_usage": [
        "--sort_by=self_cpu_memory_usage", "--row_limit=15"],
    "key_averages.narrow": [
        "--sort_by=cpu_time_total", "--row_limit=5",
        "--max_name_column_width=20", "--header=A header line"],
    "key_averages.time_unit_s": [
        "--sort_by=cpu_time_total", "--row_limit=6", "--time_unit=s"],
    "key_averages.time_unit_ms": [
        "--sort_by=cpu_time_total", "--row_limit=6", "--time_unit=ms"],
    "key_averages.time_unit_us": [
        "--sort_by=cpu_time_total", "--row_limit=6", "--time_unit=us"],
    "key_averages.by_shape": [
        "--group_by=input_shape", "--sort_by=self_cpu_time_total",
        "--row_limit=15"],
    "key_averages.by_stack5": [
        "--group_by=stack", "--sort_by=self_cpu_time_total",
        "--row_limit=15"],
    "events": ["--group_by=event", "--sort_by="],
    "events.top_level": [
        "--group_by=event", "--sort_by=", "--row_limit=-1",
        "--top_level_events_only"],
}


class ReportTestCase(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, trace):
        """`trace`: events, a document, or text as it stands."""
        path = self.path(name)
        if not isinstance(trace, str):
            trace = json.dumps(trace)
        with open(path, "w", encoding="utf-8") as file:
            file.write(trace)
        return path

    def report(self, *words, status=0):
        completed = subprocess.run(
            [REPORT, *words], capture_output=True, timeout=120, check=False,
            cwd=self.folder.name, encoding="utf-8")
        self.assertEqual(completed.returncode, status,
                         completed.stdout + completed.stderr)
        return completed

    def measure(self, *words, status=0):
        """(output, CPU seconds, most bytes of memory)"""
        completed = subprocess.run(
            [sys.executable, "-c", MEASURE, REPORT, *words],
            stdout=subprocess.PIPE, timeout=120, check=True, text=True)
        out, numbers = completed.stdout.rsplit("\n", 1)
        returncode, seconds, peak_kib = numbers.split()
        self.assertEqual(int(returncode), status, out)
        return out, float(seconds), int(peak_kib) * 1024


def op(name, begin_us, dur_us, pid=1, tid=1, **more):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": tid,
            "ts": begin_us, "dur": dur_us, **more}


class PyTorchTableTest(ReportTestCase):
    """The tables that PyTorch printed of the run that wrote the trace."""

    def check_case(self, name, leave_out=()):
        trace = str(TESTDATA / f"{name}.trace.json.gz")
        with tarfile.open(TESTDATA / f"{name}.tar.gz") as archive:
            tables = {
                member.name: archive.extractfile(member).read().decode()
                for member in archive
                if member.name.startswith("table.")
            }
        self.assertTrue(tables)
        for file, expected in tables.items():
            table = file[len("table."):-len(".txt")]
            if table in leave_out:
                continue
            with self.subTest(case=name, table=table):
                self.assertEqual(
                    self.report(*PYTORCH_TABLES[table], trace).stdout,
                    expected)

    def test_mlp_train(self):
        self.check_case("mlp_train")

    def test_threads(self):
        self.check_case("threads")

    def test_flops(self):
        self.check_case("flops")

    def test_seed_pow(self):
        self.check_case("seed_pow")

    def test_conv_infer(self):
        self.check_case("conv_infer")

    def test_nested_dup(self):
        self.check_case("nested_dup")


class FormatTest(ReportTestCase):

    def trace(self):
        return self.write("trace.json", {"traceEvents": [
            op("outer", 1000, 8), op("inner, quoted \"x\"", 1002, 3)]})

    def test_csv_has_exact_numbers(self):
        out = self.report("--format=csv", self.trace()).stdout
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([row["name"] for row in rows],
                         ["outer", "inner, quoted \"x\""])
        self.assertEqual(rows[0]["self_cpu_time_total_us"], "5")
        self.assertEqual(rows[0]["cpu_time_total_us"], "8")

    def test_names_do_not_command_the_terminal(self):
        odd = "clear\x1b[2J bell\a two\nlines \x9b1m"
        path = self.write("odd.json", {"traceEvents": [op(odd, 1000, 8)]})
        shown = "clear\\x1b[2J bell\\x07 two\\nlines \\u009b1m"
        for words in ((), ("--format=csv",), ("--diff", path),
                      ("--analysis=all",), ("--check",)):
            with self.subTest(words):
                completed = self.report("--max_name_column_width=-1", *words,
                                        path)
                for text in (completed.stdout, completed.stderr):
                    self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
                if words not in (("--analysis=all",), ("--check",)):
                    self.assertIn(shown, completed.stdout)
        document = json.loads(self.report("--format=json", path).stdout)
        self.assertEqual(document["rows"][0]["name"], odd)

    def test_pipes_and_folders_read_like_files(self):
        path = self.trace()
        expected = self.report(path).stdout
        script = 'report=$1; trace=$2; "$report" <(cat "$trace") &&' \
            ' gzip -c "$trace" | "$report" /dev/stdin && "$report" .'
        completed = subprocess.run(
            ["bash", "-c", script, "bash", REPORT, path], encoding="utf-8",
            capture_output=True, cwd=os.path.dirname(path), check=True)
        self.assertEqual(completed.stdout, 3 * expected)

    def test_json_is_strict(self):
        out = self.report("--format=json", self.trace()).stdout
        document = json.loads(out)
        self.assertEqual(document["files"][0]["importer"], "chrome")
        self.assertEqual(document["rows"][1]["cpu_time_total_us"], 3)

    def test_recursion_counts_unless_pytorch_recorded_it(self):
        events = [op("f", 1000 + i, 100 - 2 * i) for i in range(10)]
        for trace, count in (
                ({"traceEvents": events}, 10),
                ({"schemaVersion": 1, "traceEvents": events}, 1)):
            # As clang and PyTorch write them.
            [row] = json.loads(self.report(
                "--format=json", self.write("f.json", trace)).stdout)["rows"]
            self.assertEqual(row["count"], count)
            self.assertEqual(row["self_cpu_time_total_us"], 100)


class FilterTest(ReportTestCase):

    def names(self, *flags):
        path = self.write("trace.json", {"traceEvents": [
            op("ProfilerStep#1", 1000, 100, cat="user_annotation"),
            op("mm", 1010, 50),
            op("add", 1020, 10),
            op("ProfilerStep#2", 1100, 100, cat="user_annotation"),
            op("mul", 1150, 10),
            op("worker", 1150, 20, tid=2),
        ]})
        out = self.report("--format=json", *flags, path).stdout
        return {row["name"]: row["self_cpu_time_total_us"]
                for row in json.loads(out)["rows"]}

    def test_times_stay_those_of_the_whole_trace(self):
        self.assertEqual(self.names("--name=^mm$"), {"mm": 40})

    def test_by_step_category_thread_and_time(self):
        self.assertEqual(self.names("--step=2", "--category=cpu_op"),
                         {"mul": 10, "worker": 20})
        self.assertEqual(self.names("--thread=2"), {"worker": 20})
        self.assertEqual(self.names("--time=10us..100us"),
                         {"mm": 40, "add": 10})

    def test_what_is_not_there_is_said(self):
        path = self.write("trace.json", {"traceEvents": [op("a", 1, 1)]})
        self.assertIn("no steps",
                      self.report("--step=1", path, status=1).stderr)


class CheckTest(ReportTestCase):

    def findings(self, trace, status):
        out = self.report("--check", "--format=json",
                          self.write("trace.json", trace), status=status)
        return {f["rule"]: f for f in json.loads(out.stdout)["findings"]}

    def test_a_sound_trace_is_clean(self):
        for name in ("mlp_train", "threads", "flops", "seed_pow"):
            out = self.report("--check",
                              str(TESTDATA / f"{name}.trace.json.gz"))
            self.assertNotIn("warning ", out.stdout)

    def test_overlap_steps_and_lost_launches(self):
        findings = self.findings({"traceEvents": [
            op("ProfilerStep#1", 1000, 100, cat="user_annotation"),
            op("ProfilerStep#3", 1100, 100, cat="user_annotation"),
            op("a", 1110, 50),
            op("b", 1120, 60),
            op("gemm", 1150, 10, pid=0, tid=7, cat="kernel",
               args={"device": 0, "stream": 7, "correlation": 12}),
        ]}, status=3)
        self.assertEqual(findings["ranges_overlapping"]["count"], 1)
        self.assertIn("b at ", findings["ranges_overlapping"]["first"])
        self.assertEqual(findings["step_missing"]["message"],
                         "after step 1 comes step 3")
        self.assertIn("gemm", findings["launch_missing"]["first"])

    def test_a_file_that_was_cut_off(self):
        text = json.dumps({"traceEvents": [op("a", 1000, 8), op("b", 1010, 8)]})
        path = self.write("cut.json", text[:text.index('"b"')])
        out = self.report("--check", path, status=3).stdout
        self.assertIn("byte ", out)
        self.assertIn("a ", self.report(path).stdout)

    def test_a_device_has_the_name_in_the_trace(self):
        events = [op("gemm", 1150, 10, pid=0, tid=7, cat="kernel",
                     args={"device": 0, "stream": 7})]
        named = self.write("npu.json",
                           {"traceEvents": events, "use_device": "npu"})
        plain = self.write("plain.json", {"traceEvents": events})
        self.assertIn("Self NPU", self.report(named).stdout)
        self.assertIn("Self TPU", self.report("--device=tpu", named).stdout)
        self.assertIn("Self CUDA", self.report(plain).stdout)


class BadInputTest(ReportTestCase):

    def test_each_kind_of_trouble_has_its_status(self):
        self.report(self.path("none"), status=1)
        self.report(self.write("text", "hello"), status=1)
        self.report(self.write("empty", ""), status=1)
        self.report(self.folder.name, status=1)
        self.report(status=2)
        self.report("--wrong", "x", status=2)
        self.report("--sort_by=beauty", "x", status=2)

    def write_bytes(self, name, data):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def test_files_that_are_no_trace_say_what_they_are(self):
        for text, message in (
                ("hello world", 'begins with "hello world"'),
                ("42", 'begins with "42"'),
                ("[" * 1_000_000, "no importer knows this file"),
                ('{"a": [1, 2]}', "no member traceEvents"),
                ('{"traceEvents": {"a": 1}}', "byte 16 is '{'"),
                ('{"a":' * 1_000_000 + "1" + "}" * 1_000_000,
                 "no member traceEvents")):
            with self.subTest(text[:30]):
                path = self.write("trace.json", text)
                self.assertIn(message, self.report(path, status=1).stderr)
        nothing = self.write_bytes("nothing.gz", gzip.compress(b""))
        self.assertIn("unpacks to nothing",
                      self.report(nothing, status=1).stderr)

    def test_what_is_wrong_with_events_is_counted(self):
        event = '{"ph": "X", "name": "%s", "pid": 1, "tid": 1, %s}'
        deep = "[" * 1_000_000 + "]" * 1_000_000
        for members, rule in (
                ('"ts": 2, "ts": 1, "dur": 1', "member_repeated"),
                ('"ts": "soon", "dur": 1', "time_missing"),
                ('"ts": 1, "dur": "long"', "duration_missing"),
                ('"ts": 1, "dur": -1', "duration_negative"),
                ('"ts": 1, "dur": 1}, {"ts": 1', "phase_missing"),
                ('"ts": 1, "dur": 1, "args": [' + deep + "]",
                 "value_unreadable"),
                ('"ts": 1e99, "dur": 1', "time_missing")):
            with self.subTest(rule):
                path = self.write("trace.json", '{"traceEvents": [' + ", ".join(
                    (event % ("before", '"ts": 0.5, "dur": 0.1'),
                     event % ("odd", members),
                     event % ("after", '"ts": "9.5", "dur": "0.1"'))) + "]}")
                check = self.report("--check", "--format=json", path, status=3)
                findings = {finding["rule"]: finding for finding in
                            json.loads(check.stdout)["findings"]}
                self.assertEqual(findings[rule]["count"], 1)
                self.assertRegex(findings[rule]["first"], "byte [0-9]+")
                # The others are as they were.
                names = [row["name"] for row in json.loads(
                    self.report("--format=json", path).stdout)["rows"]]
                self.assertIn("before", names)
                self.assertIn("after", names)

    def test_gzip_that_is_cut_off_or_unpacks_to_too_much(self):
        trace = json.dumps({"traceEvents": [
            op(f"op{i}", 1000 + 10 * i, 8) for i in range(1000)]})
        packed = gzip.compress(trace.encode())
        cut = self.write_bytes("cut.json.gz", packed[:-200])
        check = self.report("--check", cut, status=3).stdout
        self.assertRegex(check, r"gzip_damaged +1  byte \d+")
        self.assertIn("files_cut_off", check)
        self.assertIn("op0 ", self.report("--sort_by=", cut).stdout)
        bomb = self.write_bytes("bomb.json.gz", gzip.compress(
            b'{"traceEvents": [' + b" " * (64 << 20) + b"]}"))
        self.report(bomb)
        self.assertIn("--max_unpacked_mib",
                      self.report("--max_unpacked_mib=16", bomb,
                                  status=1).stderr)

    def test_a_line_without_an_end_takes_no_memory(self):
        path = self.path("line.json")
        tail = b'", "ts": 1}, ' + json.dumps(op("after", 5, 1)).encode() + b"]}"
        size = 1 << 30
        with open(path, "wb") as file:
            file.write(b'{"traceEvents": [{"ph": "X", "name": "')
            # Of zeros, which take no disk.
            file.truncate(size)
            file.seek(size)
            file.write(tail)
        out, _, peak_bytes = self.measure("--check", path, status=3)
        self.assertIn("element_unreadable", out)
        self.assertIn("(1 event)", out)
        self.assertLess(peak_bytes, 200e6)

    def database(self, name, *statements):
        path = self.path(name)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return path

    def test_databases_of_others_and_damaged_ones(self):
        other = self.database("other.sqlite", "CREATE TABLE songs (id, name)")
        self.assertIn("the tables here: songs",
                      self.report(other, status=1).stderr)
        some = self.database(
            "some.sqlite", "CREATE TABLE StringIds (id INTEGER, value TEXT)",
            "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType "
            "INTEGER, text TEXT, globalTid INTEGER)",
            "INSERT INTO NVTX_EVENTS VALUES (10, 20, 59, 'range', 1)")
        self.assertIn("range ", self.report(some).stdout)
        with open(some, "rb") as file:
            data = file.read()
        damaged = self.write_bytes("damaged.sqlite", data[:100] + bytes(
            255 - byte for byte in data[100:]))
        self.report(damaged, status=1)

    def test_errors_are_one_line(self):
        stderr = self.report(self.write("text", "hello"), status=1).stderr
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertIn("chrome", stderr)


class SeveralFilesTest(ReportTestCase):

    def rank(self, number, dur_us):
        return self.write(f"rank{number}.json", {
            "distributedInfo": {"rank": number},
            "traceEvents": [op("step", 1000, dur_us, pid=7, tid=7)]})

    def test_ranks_are_merged_and_stay_apart(self):
        out = self.path("out")
        result = self.report("--format=json", "--export=chrome",
                             f"--output_dir={out}", self.rank(0, 10),
                             self.rank(1, 20))
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([(r["name"], r["count"], r["self_cpu_time_total_us"])
                          for r in rows], [("step", 2, 30)])
        with open(os.path.join(out, "trace.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        steps = [e for e in events if e["ph"] == "X" and e["name"] == "step"]
        self.assertEqual(len({e["pid"] for e in steps}), 2)
        names = {e["args"]["name"] for e in events
                 if e["name"] == "process_name"}
        self.assertTrue(any("rank1.json" in name for name in names), names)

    def test_clocks_that_began_at_other_times_cost_no_digits(self):
        early = self.write("early.json", {"traceEvents": [op("a", 5, 1.001)]})
        late = self.write("late.json",
                          {"traceEvents": [op("a", 1712195495505582, 1.002)]})
        [row] = json.loads(
            self.report("--format=json", early, late).stdout)["rows"]
        self.assertAlmostEqual(row["cpu_time_total_us"], 2.003, places=6)

    def test_diff(self):
        out = self.report("--diff", "--format=json", self.rank(0, 10),
                          self.rank(1, 20)).stdout
        document = json.loads(out)
        self.assertEqual(document["slower"], 1)
        self.assertEqual(document["rows"][0]["difference_us"], 10)


class ConversionTest(ReportTestCase):

    def test_what_kymo_wrote_reads_back(self):
        first = self.path("first")
        subprocess.run(
            [PROFILE, "--activities=cpu", "--quiet", "--export=chrome",
             f"--output_dir={first}", TARGET, "ranges", "1000"],
            check=True, capture_output=True, timeout=120)
        trace = os.path.join(first, "trace.json")
        with open(os.path.join(first, "key_averages.txt"),
                  encoding="utf-8") as file:
            self.assertEqual(self.report(trace).stdout, file.read())
        second = self.path("second")
        self.report("--export=chrome,summary", "--gzip",
                    f"--output_dir={second}", trace)
        with open(os.path.join(first, "summary.json"), encoding="utf-8") as f:
            before = json.load(f)["key_averages"]
        with open(os.path.join(second, "summary.json"), encoding="utf-8") as f:
            after = json.load(f)["key_averages"]
        self.assertEqual(after, before)
        with gzip.open(os.path.join(second, "trace.json.gz")) as file:
            self.assertIn("traceEvents", json.load(file))
        clean = self.report("--check", trace).stdout
        self.assertNotIn("warning ", clean)

    def test_samples_and_memory_read_back_whole(self):
        out = self.path("out")
        # More than 100,000 events: both commands then add up nanoseconds.
        subprocess.run(
            [PROFILE, "--activities=cpu,sampling", "--sampling_sampler=timer",
             "--profile_memory", "--quiet", "--export=chrome",
             f"--output_dir={out}", TARGET, "operations", "60000"],
            check=True, capture_output=True, timeout=120)
        with open(os.path.join(out, "key_averages.txt"),
                  encoding="utf-8") as file:
            tables = file.read()
        self.assertIn("Number of samples: ", tables)
        self.assertIn("Memory of target", tables)
        report = self.report(os.path.join(out, "trace.json"))
        # What was lost follows there, and is on standard error here.
        self.assertEqual(report.stdout + report.stderr, tables)

    def test_filters_choose_what_is_exported(self):
        path = self.write("trace.json", {"traceEvents": [
            op("keep", 1000, 8), op("drop", 1010, 8)]})
        out = self.path("out")
        self.report("--name=keep", "--export=chrome", f"--output_dir={out}",
                    path)
        with open(os.path.join(out, "trace.json"), encoding="utf-8") as file:
            names = {e["name"] for e in json.load(file)["traceEvents"]
                     if e.get("cat") == "cpu_op"}
        self.assertEqual(names, {"keep"})


class RawTest(ReportTestCase):
    """What //tools:profile keeps with --cpu_keep_raw."""

    def rows(self, raw, status_of_check):
        check = self.report("--check", raw, status=status_of_check).stdout
        out = self.report("--format=json", "--quiet", raw).stdout
        return check, {row["name"]: row for row in json.loads(out)["rows"]}

    def test_a_finished_recording_reads_like_its_trace(self):
        out = self.path("out")
        subprocess.run(
            [PROFILE, "--activities=cpu", "--quiet", "--cpu_keep_raw",
             "--export=chrome", f"--output_dir={out}", TARGET, "operations",
             "1000"],
            check=True, capture_output=True, timeout=120)
        raw = os.path.join(out, "kymo.raw")
        check, rows = self.rows(raw, 0)
        self.assertNotIn("collector_died", check)
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
            summary = {row["name"]: row
                       for row in json.load(file)["key_averages"]}
        self.assertEqual(rows.keys(), summary.keys())
        for name, row in rows.items():
            self.assertEqual(row["count"], summary[name]["count"])
            # The clock has the same anchors.
            self.assertAlmostEqual(row["cpu_time_total_us"] * 1000,
                                   summary[name]["cpu_time_total_ns"],
                                   delta=row["count"])

    def test_a_killed_collector_leaves_everything(self):
        count = 200_000
        out = self.path("out")
        command = subprocess.Popen(
            [PROFILE, "--activities=cpu", "--quiet", "--cpu_keep_raw",
             f"--output_dir={out}", "sh", "-c",
             f"{TARGET} ranges {count}; echo recorded; exec sleep 60"],
            stdout=subprocess.PIPE, start_new_session=True)
        self.assertEqual(command.stdout.readline(), b"recorded\n")
        with open(f"/proc/{command.pid}/task/{command.pid}/children",
                  encoding="utf-8") as file:
            children = [int(pid) for pid in file.read().split()]
        command.kill()
        command.wait()
        command.stdout.close()
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        check, rows = self.rows(os.path.join(out, "kymo.raw"), 3)
        self.assertIn("collector_died", check)
        self.assertEqual(rows["inner"]["count"], count)
        self.assertEqual(rows["outer"]["count"], 1)


class SpeedTest(ReportTestCase):
    """Budgets of docs/report.md, in the command's own CPU time.

    Machines that run tests have other things to do: wall times say little.
    """

    def test_five_thousand_events_answer_at_once(self):
        path = self.path("trace.json")
        kineto_trace.write(path, 5_000)
        best = min(self.measure(path)[1] for _ in range(10))
        self.assertLess(best, 0.05, "seconds")

    def test_large_traces_take_little_time_and_memory(self):
        path = self.path("trace.json")
        kineto_trace.write(path, 200_000)
        runs = [self.measure(path) for _ in range(3)]
        # A million may take 0.8 s on two cores.
        self.assertLess(min(seconds for _, seconds, _ in runs), 1.6 / 5)
        # The command itself takes 16 MB.
        self.assertLess(max(peak_bytes for _, _, peak_bytes in runs),
                        1.5 * os.path.getsize(path) + 16e6)


if __name__ == "__main__":
    unittest.main()
