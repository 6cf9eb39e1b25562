"""//tools:report on several files, on broken ones, and on large ones."""

import contextlib
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest

from tests.e2e import kineto_trace
from tests.e2e.report_cases import PROFILE, TARGET, ReportTestCase, op


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
                ('"ts": 1, "dur": "long"', "duration_unreadable"),
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
        # Thread times need perf events, the rest does not.
        has_switches = subprocess.run(
            [PROFILE, "--activities=off_cpu", "--quiet",
             f"--output_dir={out}", "true"],
            check=False, capture_output=True, timeout=60).returncode == 0
        activities = "cpu,sampling" + (",off_cpu" if has_switches else "")
        # More than 100,000 events: both commands then add up nanoseconds.
        subprocess.run(
            [PROFILE, f"--activities={activities}",
             "--sampling_sampler=timer", "--profile_memory", "--quiet",
             "--export=chrome", f"--output_dir={out}", TARGET, "operations",
             "60000"],
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
        # A program that reads on more CPUs has more pieces in memory.
        cpus = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        os.sched_setaffinity(0, sorted(cpus)[:2])
        least_bytes = 0
        # Forward threads that take turns: neighbours have nothing in common.
        for forward_threads, share in (0, 0.6), (3, 0.55):
            path = self.path("trace.json")
            kineto_trace.write(path, 200_000, forward_threads)
            least_bytes = least_bytes or os.path.getsize(path)
            runs = [self.measure(path) for _ in range(3)]
            # Seconds differ by machine, so Python is the measure: the command
            # took a fifth of its time at most, on busy cores, too.
            begin = time.process_time()
            with open(path, encoding="utf-8") as file:
                json.load(file)
            python_seconds = time.process_time() - begin
            self.assertLess(min(seconds for _, seconds, _ in runs),
                            0.3 * python_seconds)
            # The command itself takes 16 MB. Of the file without forward
            # threads, the trace takes half. One more value beside each detail
            # would be a fifth.
            self.assertLess(min(peak_bytes for _, _, peak_bytes in runs),
                            share * least_bytes + 16e6)


if __name__ == "__main__":
    unittest.main()
