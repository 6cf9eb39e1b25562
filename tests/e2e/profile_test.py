"""The command on real programs: what it records and writes."""

import collections
import gzip
import json
import os
import re
import signal
import subprocess
import unittest

from tests.e2e.profile_cases import (PROFILE, TARGET, TRAIN_MLP,
                                     ProfileTestCase, load_json, to_ns)


class HostCountersTest(ProfileTestCase):

    def counters(self, result):
        """Of trace.json, by pid and name: pairs of time in ns and value."""
        counters = collections.defaultdict(list)
        for event in result.trace["traceEvents"]:
            if event["ph"] == "C":
                counters[event["pid"], event["name"]].append(
                    (to_ns(event["ts"]), event["args"]["value"]))
        return counters

    def test_a_program_and_its_machine(self):
        result = self.profile(
            TRAIN_MLP, "--epochs=10",
            flags=("--activities=cpu,host", "--host_period_ms=20"))
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.losses, {})
        counters = self.counters(result)
        (pid,) = {pid for pid, _ in counters}
        window = result.summary["window"]
        base = result.trace["baseTimeNanoseconds"]
        for name in ("machine.cpu.user_percent", "machine.cpu.system_percent",
                     "machine.cpu.iowait_percent", "machine.cpu.steal_percent",
                     "machine.cpu.idle_percent", "machine.cpu0.busy_percent",
                     "machine.run_queue", "machine.load_1min",
                     "machine.memory.used_bytes",
                     "machine.memory.available_bytes",
                     "machine.memory.cached_bytes",
                     "machine.page_faults.minor_per_s",
                     "machine.page_faults.major_per_s",
                     "machine.context_switches_per_s",
                     "machine.network.received_bytes_per_s",
                     "machine.network.sent_bytes_per_s",
                     "process.cpu.user_percent", "process.cpu.system_percent",
                     "process.memory.rss_bytes",
                     "process.page_faults.minor_per_s",
                     "process.page_faults.major_per_s",
                     "process.context_switches.voluntary_per_s",
                     "process.context_switches.involuntary_per_s",
                     "process.disk.read_bytes_per_s",
                     "process.disk.written_bytes_per_s",
                     "process.descriptors", "process.threads"):
            with self.subTest(counter=name):
                values = counters[pid, name]
                self.assertGreater(len(values), 2)
                self.assertEqual(values, sorted(values, key=lambda v: v[0]))
                self.assertGreaterEqual(values[0][0] + base,
                                        window["start_ns"])
                self.assertLessEqual(values[-1][0] + base, window["end_ns"])
        summary = {(counter["pid"], counter["name"]): counter
                   for counter in result.summary["counters"]}
        self.assertEqual(summary.keys(), counters.keys())
        for key, values in counters.items():
            with self.subTest(counter=key):
                values = [value for _, value in values]
                self.assertEqual(summary[key]["samples"], len(values))
                self.assertEqual(summary[key]["min"], min(values))
                self.assertEqual(summary[key]["max"], max(values))
                self.assertEqual(summary[key]["last"], values[-1])
                self.assertLessEqual(min(values), summary[key]["mean"])
                self.assertLessEqual(summary[key]["mean"], max(values))
        # The program computes all the time; others may compute beside it.
        self.assertGreater(
            summary[pid, "process.cpu.user_percent"]["mean"], 10)
        self.assertGreater(
            summary[pid, "process.memory.rss_bytes"]["max"], 1 << 20)
        states = [summary[pid, f"machine.cpu.{state}_percent"]["mean"]
                  for state in ("user", "system", "iowait", "steal", "idle")]
        self.assertAlmostEqual(sum(states), 100, places=6)

    def test_processes_that_the_target_starts_have_their_own(self):
        result = self.profile(
            "sh", "-c", "sleep 1.6 & sleep 1.5; wait",
            flags=("--activities=host", "--host_period_ms=20"))
        self.assertEqual(result.status, 0, result.stderr)
        names = {process["pid"]: process["name"]
                 for process in result.summary["processes"]}
        threads = {pid for pid, name in self.counters(result)
                   if name == "process.threads"}
        self.assertEqual(sorted(names[pid] for pid in threads),
                         ["sh", "sleep", "sleep"])
        self.assertEqual({pid for pid, name in self.counters(result)
                          if name == "machine.run_queue"},
                         {pid for pid, name in names.items() if name == "sh"})

    def test_it_is_recorded_on_request_only(self):
        result = self.profile(TARGET, "ranges", "10", flags=())
        self.assertEqual(result.status, 0, result.stderr)
        self.assertNotIn("counters", result.summary)
        listed = subprocess.run([PROFILE, "--list"], capture_output=True,
                                check=True, text=True).stdout
        for name in ("host", "itt", "memory"):
            self.assertRegex(listed, rf"(?m)^{name} +available, on request$")


class AnnotatedProgramTest(ProfileTestCase):

    def test_every_range_is_counted_and_nested(self):
        result = self.profile(TARGET, "ranges", "10000")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.counts, {"outer": 1, "inner": 10000})
        self.assertEqual(result.losses, {})
        ranges = [e for e in result.slices() if e["cat"] == "cpu_op"]
        self.assertEqual(len(ranges), 10001)
        self.assert_nested(ranges)
        outer = [e for e in ranges if e["name"] == "outer"]
        self.assertEqual(outer[0]["args"]["count"], 10000)

    def test_recursion_counts_as_often_as_it_happened(self):
        result = self.profile(TARGET, "recursion", "10")
        self.assertEqual(result.counts, {"again": 10})
        self.assertRegex(result.table, r"again .* 10  \n")
        self.assertEqual(
            [e["name"] for e in result.slices() if e["cat"] == "cpu_op"],
            ["again"] * 10)

    def test_train_mlp_agrees_with_its_own_counters(self):
        counts = os.path.join(self.folder.name, "counts.json")
        result = self.profile(TRAIN_MLP, "--epochs=3", f"--counts={counts}",
                              flags=("--activities=cpu",))
        self.assertEqual(result.status, 0, result.stderr)
        own = collections.Counter()
        for name, count in load_json(counts).items():
            own[re.sub(r"^ProfilerStep#.*", "ProfilerStep*", name)] += count
        seen = collections.Counter()
        instants = collections.Counter(
            e["name"] for e in result.trace["traceEvents"]
            if e.get("cat") == "cpu_instant_event")
        for name, count in result.counts.items():
            seen[name] += count
        for name, count in instants.items():
            if name in own and name not in seen:
                seen[name] += count
        self.assertEqual(dict(seen), dict(own))

    def test_self_times_sum_to_what_top_level_ranges_cover(self):
        result = self.profile(TRAIN_MLP, "--epochs=2")
        tracks = collections.defaultdict(list)
        for event in result.slices():
            if event["cat"] in ("cpu_op", "user_annotation"):
                begin = to_ns(event["ts"])
                tracks[event["tid"]].append((begin, begin + to_ns(event["dur"])))
        covered = 0
        for spans in tracks.values():
            reach = 0
            for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
                if begin >= reach:
                    covered += end - begin
                    reach = end
        total = sum(r["self_cpu_time_total_ns"]
                    for r in result.summary["key_averages"])
        self.assertEqual(total, covered)

    def test_threads_are_named_and_complete(self):
        result = self.profile(TARGET, "threads", "20", "500")
        self.assertEqual(result.counts, {"outer": 20, "inner": 10000})
        names = [
            e["args"]["name"] for e in result.trace["traceEvents"]
            if e["name"] == "thread_name"
        ]
        self.assertTrue(any("worker 19" in name for name in names), names)

    def test_kill_9_keeps_everything_that_had_ended(self):
        # 224 MB, for which the arena of 256 MiB has room.
        count = 7_000_000
        result = self.profile(
            TARGET, "kill", str(count),
            flags=("--activities=cpu", "--export=stacks"))
        self.assertEqual(result.status, -signal.SIGKILL)
        self.assertIn(f"recorded {count}".encode(), result.stdout)
        lost = result.losses.pop("events_dropped_arena_full", 0)
        self.assertEqual(result.counts["inner"] + lost, count)
        self.assertEqual(lost, 0)
        self.assertEqual(result.counts["open at the end"], 1)
        self.assertEqual(result.losses["ranges_open_at_end"], 1)

    def test_children_of_every_kind_are_followed(self):
        self.assertEqual(
            self.profile(TARGET, "fork", "1000").counts,
            {"outer": 3, "inner": 3000})
        self.assertEqual(
            self.profile(TARGET, "exec", "1000").counts,
            {"outer": 2, "inner": 2000})
        self.assertEqual(
            self.profile(TARGET, "vfork").counts,
            {"around vfork": 1, "outer": 1, "inner": 10})
        self.assertEqual(
            self.profile(
                "sh", "-c", f"{TARGET} ranges 5 & {TARGET} ranges 7; wait"
            ).counts, {"outer": 2, "inner": 12})

    def test_target_that_closes_every_descriptor(self):
        self.assertEqual(
            self.profile(TARGET, "close_fds", "3000").counts["inner"], 3000)

    def test_process_that_leaves_while_a_thread_records(self):
        result = self.profile(TARGET, "late", "10000000")
        self.assertEqual(result.status, 0)
        self.assertGreater(result.counts["inner"], 0)
        self.assert_nested(result.slices())

    def test_only_the_command_comes_first(self):
        # Where root may not do so, both keep what they have. The test may run
        # at any niceness, so it asks for 40 less: the kernel stops at -20.
        def may_raise():
            child = subprocess.run(
                ["nice", "-n", "-40", "nice"], capture_output=True, text=True)
            return child.stdout == "-20\n"
        code = ("import os; print(*(os.getpriority(os.PRIO_PROCESS, pid)"
                " for pid in (0, os.getppid())))")
        own = os.getpriority(os.PRIO_PROCESS, 0)
        command = -20 if may_raise() else own
        result = self.profile("/usr/bin/python3", "-c", code,
                              flags=("--activities=cpu",))
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.stdout.decode(), f"{own} {command}\n")

    def test_full_arena_is_said(self):
        # By the old spellings of these settings.
        result = self.profile(
            TARGET, "ranges", "500000",
            flags=("--activities=cpu", "--arena_mib=1", "--when_full=stop",
                   "--strict"))
        self.assertIn("kymo: --arena_mib is now --cpu_arena_mib\n",
                      result.stderr)
        self.assertIn("kymo: --when_full is now --cpu_when_full\n",
                      result.stderr)
        lost = result.losses["events_dropped_arena_full"]
        # The end of "outer" was lost too.
        self.assertEqual(result.losses["ranges_open_at_end"], 1)
        self.assertEqual(result.counts["inner"] + lost, 500000 + 1)
        self.assertIn("events_dropped_arena_full", result.table)
        self.assertEqual(result.status, 3)

    def test_gzip(self):
        result = self.profile(
            TARGET, "ranges", "10", flags=("--activities=cpu", "--gzip"))
        with gzip.open(result.out / "trace.json.gz", "rt") as file:
            self.assertIn("traceEvents", json.load(file))
        self.assertFalse((result.out / "trace.json").exists())

    def test_the_folder_stays_within_its_size(self):
        most = 2 << 20
        result = self.profile(
            TARGET, "ranges", "100000",
            flags=("--activities=cpu", "--with_stack", "--max_size=2MiB"))
        self.assertEqual(result.status, 0)
        sizes = {path.name: path.stat().st_size
                 for path in result.out.iterdir()}
        # These have their own limits (README.md).
        for name in "summary.json", "key_averages.txt":
            del sizes[name]
        self.assertLessEqual(sum(size for name, size in sizes.items()
                                 if not name.endswith(".pb.gz")), most, sizes)
        self.assertIn("report.html", sizes)
        # With their stacks the ranges would take more. Each is counted.
        self.assertEqual(result.counts["inner"], 100_000)
        self.assertGreater(result.losses["timeline_left_out"], 0)
        calls = sum(event.get("args", {}).get("kymo_folded", 1)
                    for event in result.slices() if event["name"] == "inner")
        self.assertEqual(calls, 100_000)
        self.assertIn("timeline_left_out", result.table)


if __name__ == "__main__":
    unittest.main()
