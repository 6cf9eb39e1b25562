"""//tools:report: its tables, formats and filters."""

import csv
import io
import json
import os
import subprocess
import tarfile
import unittest

from tests.e2e.report_cases import REPORT, TESTDATA, ReportTestCase, op

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
                      ("--sql", "select name from events"),
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


class SqlTest(ReportTestCase):

    def trace(self):
        return self.write("trace.json", {"traceEvents": [
            op("outer", 1000, 8), op("inner", 1002, 3), op("inner", 1006, 1)]})

    def test_queries_agree_with_the_table(self):
        path = str(TESTDATA / "mlp_train.trace.json.gz")
        table = json.loads(self.report("--format=json", path).stdout)["rows"]
        rows = json.loads(self.report("--query=key_averages", "--format=json",
                                      path).stdout)
        self.assertEqual(len(rows), len(table))
        self.assertEqual(
            sorted((row["name"], row["count"], row["total_ns"] / 1000,
                    row["self_ns"] / 1000) for row in rows),
            # PyTorch adds rounded microseconds.
            sorted((row["name"], row["count"],
                    round(row["cpu_time_total_us"], 3),
                    round(row["self_cpu_time_total_us"], 3))
                   for row in table))

    def test_formats_filters_and_errors(self):
        query = "select name, count(*) as n from events group by name"
        self.assertEqual(
            self.report(self.trace(), "--sql", query,
                        "--format=markdown").stdout,
            "| name  |   n |\n| ----- | --: |\n"
            "| inner |   2 |\n| outer |   1 |\n")
        self.assertEqual(
            self.report(self.trace(), "--name=inner", "--sql", query,
                        "--format=csv").stdout, "name,n\ninner,2\n")
        self.assertIn("slowest_steps", self.report("--query=list").stdout)
        wrong = self.report(self.trace(), "--sql", "select nam from events",
                            status=1)
        self.assertIn("no such column: nam\n  select nam from events\n"
                      "         ^\n  .tables and .schema TABLE in the shell",
                      wrong.stderr)
        endless = ("with recursive n(x) as (select 1 union all select x + 1 "
                   "from n) select count(*) from n")
        self.assertIn("longer than 1 s", self.report(
            self.trace(), "--sql_max_seconds=1", "--sql", endless,
            status=1).stderr)

    def test_statements_come_from_a_pipe(self):
        completed = subprocess.run(
            [REPORT, self.trace(), "--sql", "-", "--format=csv"],
            input="select 1\n as a; select ';' as b;\n.tables\nselect 3 as c",
            capture_output=True, timeout=120, check=True, encoding="utf-8")
        self.assertRegex(completed.stdout,
                         r"^a\n1\nb\n;\n(?s:.*) events +A range(?s:.*)c\n3\n$")


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


if __name__ == "__main__":
    unittest.main()
