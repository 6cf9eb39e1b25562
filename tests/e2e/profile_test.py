"""The command on real programs: what it records, writes, says and returns."""

import collections
import gzip
import json
import os
import pathlib
import pty
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
TRAIN_MLP = os.path.abspath(os.environ["KYMO_TRAIN_MLP"])
BURN = os.path.abspath(os.environ["KYMO_BURN"])
STATIC = os.path.abspath(os.environ["KYMO_STATIC"])

# The kernel cuts the thread names that it keeps to this.
NANOSECONDS_PER_US = 1000


def reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def load_json(path):
    """Strict: no NaN, no infinities."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_constant=reject_constant)


def to_ns(text):
    """Microseconds with three decimals, exactly."""
    return round(text * NANOSECONDS_PER_US)


class Result:
    """What one run of the command left."""

    def __init__(self, completed, out):
        self.status = completed.returncode
        self.stdout = completed.stdout
        self.stderr = completed.stderr.decode(errors="replace")
        self.out = pathlib.Path(out)

    @property
    def trace(self):
        # The timeline of millions of ranges is compressed.
        path = self.out / "trace.json.gz"
        return load_json(path if path.exists() else self.out / "trace.json")

    @property
    def summary(self):
        return load_json(self.out / "summary.json")

    @property
    def table(self):
        return (self.out / "key_averages.txt").read_text(encoding="utf-8")

    @property
    def counts(self):
        return {
            row["name"]: row["count"] for row in self.summary["key_averages"]
        }

    @property
    def losses(self):
        return {
            entry["name"]: entry["count"]
            for entry in self.summary["ledger"]
            if entry["count"]
        }

    def slices(self):
        return [e for e in self.trace["traceEvents"] if e["ph"] == "X"]


KEEP_RAW = ("--activities=cpu", "--cpu_keep_raw")


class ProfileTestCase(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runs = 0

    def command(self, *words, flags=()):
        self.runs += 1
        out = os.path.join(self.folder.name, f"out{self.runs}")
        return [PROFILE, f"--output_dir={out}", *flags, *words], out

    def profile(self, *words, flags=("--activities=cpu",), **options):
        command, out = self.command(*words, flags=flags)
        options.setdefault("cwd", self.folder.name)
        completed = subprocess.run(
            command, capture_output=True, timeout=300, check=False, **options)
        return Result(completed, out)

    def assert_nested(self, slices):
        """On every track: slices are nested or apart."""
        tracks = collections.defaultdict(list)
        for event in slices:
            begin = to_ns(event["ts"])
            tracks[event["pid"], event["tid"]].append(
                (begin, begin + to_ns(event["dur"])))
        for track, spans in tracks.items():
            stack = []
            for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
                while stack and stack[-1] <= begin:
                    stack.pop()
                if stack:
                    self.assertLessEqual(end, stack[-1], track)
                stack.append(end)


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
            "sh", "-c", "sleep 0.5 & sleep 0.4; wait",
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
        count = 10_000_000
        result = self.profile(
            TARGET, "kill", str(count),
            flags=("--activities=cpu", "--export=stacks"))
        self.assertEqual(result.status, -signal.SIGKILL)
        self.assertIn(f"recorded {count}".encode(), result.stdout)
        lost = result.losses.pop("events_dropped_arena_full", 0)
        self.assertEqual(result.counts["inner"] + lost, count)
        self.assertEqual(lost, 0, "the collector did not keep up")
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


class GuestTest(ProfileTestCase):
    """Streams, signals and exit status of the target stay its own."""

    def test_exit_status(self):
        for status in (0, 1, 5, 127, 255):
            self.assertEqual(
                self.profile(TARGET, "exit", str(status)).status, status)

    def test_death_by_signal(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM):
            self.assertEqual(
                self.profile(TARGET, "signal", str(int(number))).status,
                -number)

    def test_streams_are_passed_through_byte_for_byte(self):
        data = bytes(range(256)) * 1000
        result = self.profile("cat", input=data)
        self.assertEqual(result.stdout, data)
        quiet = self.profile(
            "sh", "-c", "echo out; echo err >&2",
            flags=("--activities=cpu", "--quiet"))
        self.assertEqual(quiet.stdout, b"out\n")
        self.assertEqual(quiet.stderr, "err\n")

    def interrupt(self, send):
        command, out = self.command(
            TARGET, "wait_for_signal", flags=("--activities=cpu",))
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        send(process.pid)
        stdout, stderr = process.communicate(timeout=60)
        result = Result(
            subprocess.CompletedProcess(
                command, process.returncode, stdout, stderr), out)
        self.assertEqual(result.status, 7, result.stderr)
        self.assertGreater(result.counts["waiting"], 0)

    def test_interrupt_of_the_whole_group(self):
        self.interrupt(lambda pid: os.killpg(pid, signal.SIGINT))

    def test_termination_is_passed_on(self):
        self.interrupt(lambda pid: os.kill(pid, signal.SIGTERM))

    def test_signal_dispositions_of_the_target_are_the_callers(self):
        code = ("import signal; "
                "print(signal.getsignal(signal.SIGINT), "
                "signal.pthread_sigmask(signal.SIG_BLOCK, []))")
        plain = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True)
        self.assertEqual(
            self.profile(sys.executable, "-c", code).stdout, plain.stdout)

    def test_ignored_child_signal_does_not_hang_the_command(self):
        code = ("import os, signal, sys; "
                "signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                "os.execv(sys.argv[1], sys.argv[1:])")
        command, out = self.command(
            TARGET, "exit", "3", flags=("--activities=cpu",))
        completed = subprocess.run(
            [sys.executable, "-c", code, *command], capture_output=True,
            timeout=60, check=False)
        self.assertEqual(completed.returncode, 3, completed.stderr)
        self.assertTrue(os.path.exists(os.path.join(out, "summary.json")))

    def test_target_that_shortens_the_arena_harms_only_itself(self):
        result = self.profile(
            "sh", "-c", '(: > "$KYMO_ARENA"); exit 7')
        self.assertEqual(result.status, 7, result.stderr)
        self.assertEqual(result.counts, {})
        # A raw file can be shortened: what it held is lost, and said.
        result = self.profile(
            "sh", "-c", '(: > "$KYMO_ARENA"); exit 7', flags=KEEP_RAW)
        self.assertEqual(result.status, 7, result.stderr)
        self.assertEqual(result.counts, {})
        self.assertGreater(result.losses["drain_bytes_lost"], 0)

    def test_second_recording_leaves_the_raw_file_of_a_live_one(self):
        out = os.path.join(self.folder.name, f"out{self.runs + 1}")
        second = shlex.join(
            [PROFILE, f"--output_dir={out}", *KEEP_RAW, TARGET, "ranges", "3"])
        result = self.profile(
            "sh", "-c", f"{second}; {shlex.quote(TARGET)} ranges 5000",
            flags=KEEP_RAW)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("another run is writing into", result.stderr)
        self.assertEqual(result.counts["inner"], 5000)

    def test_runs_of_one_second_have_a_folder_each(self):
        one = f"{shlex.quote(PROFILE)} --activities=cpu true"
        completed = subprocess.run(
            ["sh", "-c", f"{one} & {one} & {one} & wait"],
            cwd=self.folder.name, capture_output=True, check=True)
        folders = os.listdir(os.path.join(self.folder.name, "kymo-out"))
        self.assertEqual(len(folders), 3, completed.stderr)
        for folder in folders:
            self.assertIn(f"kymo-out/{folder}\n", completed.stderr.decode())

    def test_a_log_has_a_short_table(self):
        result = self.profile(TARGET, "ranges", "3")
        self.assertIn("Self CPU %", result.stderr)
        self.assertRegex(result.stderr, "(?m)^inner ")
        quiet = self.profile(TARGET, "ranges", "3",
                             flags=("--activities=cpu", "--quiet"))
        self.assertEqual(quiet.stderr, "")

    def test_folder_has_only_the_files_of_its_last_run(self):
        out = os.path.join(self.folder.name, "again")
        mine = os.path.join(out, "mine.txt")
        names = []
        for flags in (KEEP_RAW, ("--activities=cpu", "--export=")):
            completed = subprocess.run(
                [PROFILE, f"--output_dir={out}", *flags, TARGET, "ranges", "3"],
                capture_output=True, check=False)
            self.assertEqual(completed.returncode, 0, completed.stderr)
            names.append(set(os.listdir(out)))
            pathlib.Path(mine).touch()
        self.assertLess({"kymo.raw", "trace.json"}, names[0])
        self.assertEqual(
            names[1],
            {".kymo-files", "key_averages.txt", "mine.txt", "summary.json"})

    def test_closed_streams_stay_closed_and_what_is_recorded_is_whole(self):
        opened = os.path.join(self.folder.name, "opened")
        script = (f'for n in 0 1 2; do test -e /proc/$$/fd/$n &&'
                  f' echo $n >> {opened}; done; "$0" ranges 1000')
        for flags in (("--activities=cpu",), KEEP_RAW):
            command, out = self.command("sh", "-c", script, TARGET,
                                        flags=flags)
            completed = subprocess.run(
                ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command],
                check=False)
            completed.stderr = b""
            result = Result(completed, out)
            self.assertEqual(result.status, 0)
            self.assertEqual(result.counts["inner"], 1000)
            self.assertEqual(result.losses, {})
            self.assertFalse(os.path.exists(opened))

    def test_target_that_stops_gives_the_terminal_back(self):
        command, _ = self.command("sh", "-c", "kill -STOP $$; exit 7",
                                  flags=("--activities=cpu", "--quiet"))
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(command[0], command)
        self.addCleanup(os.close, terminal)
        _, status = os.waitpid(pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status), status)
        os.kill(pid, signal.SIGCONT)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 7)

    def test_forked_child_does_not_end_its_parents_ranges(self):
        result = self.profile(TARGET, "fork_inside", "0")
        outer = [e for e in result.slices() if e["name"] == "around fork"]
        self.assertEqual(len(outer), 1)
        inner = [e for e in result.slices() if e["name"] == "after fork"]
        self.assertEqual(outer[0]["tid"], inner[0]["tid"])
        self.assertEqual(result.losses, {})

    def test_descriptors_of_the_target_are_the_callers(self):
        plain = subprocess.run(
            ["ls", "/proc/self/fd"], capture_output=True, check=True)
        self.assertEqual(self.profile("ls", "/proc/self/fd").stdout,
                         plain.stdout)

    def test_relative_target_and_output(self):
        os.symlink(TARGET, os.path.join(self.folder.name, "here"))
        completed = subprocess.run(
            [PROFILE, "--activities=cpu", "--output_dir=rel/out", "./here",
             "ranges", "3"],
            cwd=self.folder.name, capture_output=True, check=False)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        path = pathlib.Path(self.folder.name, "rel/out/trace.json")
        self.assertTrue(path.exists())
        self.assertIn(b"kymo: wrote rel/out\n", completed.stderr)

    def test_folder_where_the_user_stood_under_bazel(self):
        environment = dict(os.environ,
                           BUILD_WORKING_DIRECTORY=self.folder.name)
        completed = subprocess.run(
            [PROFILE, "--activities=cpu", "--output_dir=rel", TARGET,
             "ranges", "3"],
            env=environment, cwd="/", capture_output=True, check=False)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertTrue(
            pathlib.Path(self.folder.name, "rel/summary.json").exists())
        self.assertIn(b"kymo: wrote rel\n", completed.stderr)
        self.assertIn(b" open rel/trace.json in ", completed.stderr)


class TerminalTest(ProfileTestCase):

    def on_terminal(self, columns, *words, flags=(), **variables):
        """All that a terminal of this width gets, with escapes."""
        command, _ = self.command(*words, flags=flags)
        environment = dict(os.environ, TERM="xterm", **variables)
        pid, terminal = pty.fork()
        if pid == 0:
            termios.tcsetwinsize(0, (50, columns))
            os.execve(command[0], command, environment)
        self.addCleanup(os.close, terminal)
        output = b""
        while True:
            try:
                output += os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, output)
        return output.decode().replace("\r\n", "\n")

    def test_the_first_screen_fits(self):
        for columns in (80, 120, 200):
            with self.subTest(columns):
                output = self.on_terminal(columns, TRAIN_MLP, "--epochs=1")
                # What progress took back is not seen.
                seen = re.sub(r"\r[^\n]*\033\[K", "", output)
                seen = re.sub(r"\033\[[0-9]*m", "", seen)
                for line in seen.splitlines():
                    if not line.startswith("kymo: "):
                        self.assertLessEqual(len(line), columns, line)
                self.assertRegex(seen, r"(?m)^mlp::matmul_tile +[0-9.]+%")
                self.assertRegex(seen, r"(?m)^train_mlp: [0-9.]+ s, ")
                self.assertIn("trace.json in https://ui.perfetto.dev", seen)
                self.assertRegex(seen, r"(?m)^kymo: all tables: .*/key_averages.txt$")

    def test_color_is_for_those_who_want_it(self):
        red = "\033[31m"
        plain = self.on_terminal(80, TARGET, "ranges", "100", NO_COLOR="1")
        self.assertNotIn(red, plain)
        colored = self.on_terminal(80, TARGET, "ranges", "100")
        self.assertIn(red, colored)
        logged = self.profile(TARGET, "ranges", "100",
                              flags=("--activities=cpu", "--color=always"))
        self.assertIn(red, logged.stderr)


class LabelTest(ProfileTestCase):
    """Labels, with a Bazel that only answers."""

    def run_label(self, script):
        workspace = pathlib.Path(self.folder.name, "workspace")
        workspace.mkdir()
        (workspace / "WORKSPACE").write_text("")
        bazel = workspace / "bazelw"
        bazel.write_text(script)
        bazel.chmod(0o755)
        os.symlink(os.path.dirname(TARGET), workspace / "root")
        return self.profile(
            "//some:label", "ranges", "4", cwd=workspace)

    def test_is_built_and_run(self):
        result = self.run_label(
            "#!/bin/sh\n"
            "case $1 in\n"
            f"  cquery) echo {os.path.basename(TARGET)};;\n"
            f"  info) echo {os.path.dirname(TARGET)};;\n"
            "esac\n")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.counts["inner"], 4)

    def test_failed_build_is_said(self):
        result = self.run_label("#!/bin/sh\necho broken >&2\nexit 1\n")
        self.assertEqual(result.status, 1)
        self.assertIn("broken", result.stderr)
        self.assertIn("could not build //some:label", result.stderr)


class TroubleTest(ProfileTestCase):

    def fails(self, *words, flags=(), status, says):
        result = self.profile(*words, flags=flags)
        self.assertEqual(result.status, status, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stdout, b"")
        return result

    def test_no_such_target(self):
        for word in ("no-such-program", "./missing", "/no/such/file"):
            result = self.fails(word, status=127, says=word)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_a_target_that_does_not_start_leaves_the_last_runs_files(self):
        command, out = self.command("true", flags=("--activities=cpu",))
        subprocess.run(command, capture_output=True, check=True)
        left = sorted(os.listdir(out))
        script = pathlib.Path(self.folder.name, "script")
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        completed = subprocess.run([*command[:-1], script],
                                   capture_output=True, check=False)
        self.assertEqual(completed.returncode, 127, completed.stderr)
        self.assertIn("trace.json", left)
        self.assertEqual(sorted(os.listdir(out)), left)

    def test_not_executable(self):
        path = os.path.join(self.folder.name, "plain.txt")
        pathlib.Path(path).write_text("text")
        self.fails(path, status=126, says="Permission denied")
        self.fails(self.folder.name, status=126, says="not a regular file")

    def test_bad_command_lines_list_what_is_valid(self):
        marker = os.path.join(self.folder.name, "ran")
        for flags, says in (
            (["--nonsense"], "--help=all"),
            (["--activites=cpu"], "the nearest is --activities"),
            (["--activities=cpu,gpu"],
             "cpu, cuda, emit_itt, emit_nvtx, host, itt, memory, nvtx, "
             "sampling"),
            (["--export=pdf"], "chrome"),
            (["--sort_by=beauty"], "self_cpu_time_total"),
            (["--sampling_hz=0"], "1 to 20000"),
            (["--sampling_hz=many"], "many"),
            (["--cpu_arena_mib=0"], "65536"),
            (["--cpu_when_full=explode"], "drain, overwrite, stop"),
            (["--help=nonsense"], "sampling"),
            (["--row_limit"], "--row_limit"),
        ):
            words = ("touch", marker) if flags != ["--row_limit"] else ()
            self.fails(*words, flags=flags, status=2, says=says)
        self.assertFalse(os.path.exists(marker), "the target was started")
        self.fails(flags=(), status=2, says="no target")

    def test_output_folder_that_cannot_be(self):
        path = os.path.join(self.folder.name, "file")
        pathlib.Path(path).write_text("")
        completed = subprocess.run(
            [PROFILE, f"--output_dir={path}/out", "touch", path + ".ran"],
            capture_output=True, check=False)
        self.assertEqual(completed.returncode, 1, completed.stderr)
        self.assertIn(path, completed.stderr.decode())
        self.assertFalse(os.path.exists(path + ".ran"))

    def test_disk_that_is_full_leaves_no_half_file(self):
        out = os.path.join(self.folder.name, "small")
        os.mkdir(out)
        script = (f"mount -t tmpfs -o size=1m none {out} && "
                  f"{PROFILE} --activities=cpu --output_dir={out} "
                  f"{TARGET} ranges 20000; echo status $?; ls -A {out}")
        # Without root, in a user namespace of our own.
        flags = "-m" if os.getuid() == 0 else "-rm"
        completed = subprocess.run(
            ["unshare", flags, "sh", "-c", script], capture_output=True,
            check=True)
        lines = completed.stdout.decode().split()
        self.assertEqual(lines[:2], ["status", "0"], completed.stderr)
        # An exporter that lacks room for one of its files leaves none of them.
        self.assertEqual(sorted(lines[2:]),
                         [".kymo-files", "key_averages.txt", "summary.json"])
        self.assertIn(b"trace.json", completed.stderr)
        self.assertIn(b"No space left", completed.stderr)

    def test_nothing_written_is_a_failure_and_not_said_to_be_written(self):
        out = os.path.join(self.folder.name, "gone")
        completed = subprocess.run(
            [PROFILE, "--activities=cpu", f"--output_dir={out}", "sh", "-c",
             f"rm -r {out}; touch {out}"], capture_output=True, check=False)
        self.assertEqual(completed.returncode, 1, completed.stderr)
        self.assertNotIn(b"wrote", completed.stderr)
        self.assertIn(out, completed.stderr.decode())

    def test_limit_of_file_sizes_is_an_error_and_no_death(self):
        command, out = self.command(BURN, "two",
                                    flags=("--activities=cpu,sampling",))
        completed = subprocess.run(
            ["bash", "-c", 'ulimit -f 10; exec "$@"', "sh", *command],
            capture_output=True, check=False)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        # The arena, which is a file to the kernel, and the timeline.
        self.assertIn(b"try a larger limit of file sizes", completed.stderr)
        self.assertRegex(completed.stderr,
                         b"could not write '[^']*': File too large")
        self.assertTrue(
            os.path.exists(os.path.join(out, "key_averages.txt")))
        # The target keeps the signal.
        command, out = self.command(
            "sh", "-c", 'head -c 20000 /dev/zero > "$0"',
            os.path.join(self.folder.name, "large"),
            flags=("--activities=cpu,sampling",))
        completed = subprocess.run(
            ["bash", "-c", 'ulimit -f 10; exec "$@"', "sh", *command],
            capture_output=True, check=False)
        self.assertEqual(completed.returncode, 128 + signal.SIGXFSZ,
                         completed.stderr)

    def test_small_stack_is_enough(self):
        command, out = self.command(BURN, "two",
                                    flags=("--activities=sampling",))
        completed = subprocess.run(
            ["sh", "-c", 'ulimit -s 128; exec "$@"', "sh", *command],
            capture_output=True, check=False)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertTrue(os.path.exists(os.path.join(out, "summary.json")))

    def test_timelines_are_split_at_steps_to_fit(self):
        parts = self.profile(
            TRAIN_MLP, flags=("--activities=cpu", "--max_file_mib=1"))
        self.assertEqual(parts.status, 0, parts.stderr)
        names = sorted(p.name for p in parts.out.glob("trace*"))
        self.assertGreater(len(names), 3)
        events = repeated = 0
        steps = set()
        for name in names:
            self.assertRegex(name, r"^trace\.steps_\d+-\d+\.json$")
            path = parts.out / name
            self.assertLessEqual(path.stat().st_size, 1 << 20)
            trace = load_json(path)
            self.assertEqual(trace["kymo_part"]["parts"], len(names))
            repeated += trace["kymo_part"]["repeated_events"]
            for event in trace["traceEvents"]:
                if event["name"].startswith("ProfilerStep#"):
                    self.assertNotIn(event["name"], steps)
                    steps.add(event["name"])
                if event.get("cat") == "Trace":
                    events += event["args"]["Op count"]
        totals = load_json(parts.out / "summary.json")["totals"]
        self.assertEqual(
            events - repeated, totals["ranges"] + totals["instants"])

    def test_version(self):
        completed = subprocess.run(
            [PROFILE, "--version"], capture_output=True, check=True)
        self.assertRegex(completed.stdout, rb"^kymo [0-9]+\.[0-9]+\.[0-9]+\n$")

    def test_help_and_list(self):
        for flag in ("--help", "--help=all", "--list"):
            completed = subprocess.run(
                [PROFILE, flag], capture_output=True, check=True)
            text = completed.stdout.decode()
            self.assertIn("cpu", text)
            self.assertIn("sampling", text)
            self.assertLessEqual(max(map(len, text.split("\n"))), 80)

    def test_shapes_flops_stacks_memory_and_modules_of_operations(self):
        result = self.profile(
            TARGET, "operations", "50",
            flags=("--activities=cpu", "--with_flops", "--profile_memory",
                   "--memory_mode=reports", "--with_modules",
                   "--capture_overload_names", "--group_by_input_shape"))
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("aten::mm.out", {e["name"] for e in result.slices()})
        rows = [line for line in result.table.split("\n")
                if "aten::mm" in line and "[[" in line]
        self.assertEqual(len(rows), 2, result.table)
        large = next(row for row in rows if "[[64, 32], [32, 64]]" in row)
        # 50 products of 2 * 64 * 32 * 64 operations, 4096 bytes each.
        self.assertIn("200.00 KB", large)
        self.assertIn("13107.200", large)
        self.assertNotIn("net(Net).forward", result.table)

    def test_stacks_of_operations_in_a_program_that_has_gone(self):
        result = self.profile(
            TARGET, "operations", "50",
            flags=("--activities=cpu", "--group_by_stack_n=2"))
        self.assertEqual(result.status, 0, result.stderr)
        rows = [line for line in result.table.split("\n") if "aten::mm" in line]
        self.assertEqual(len(rows), 2, result.table)
        self.assertEqual({e["name"] for e in result.slices()
                          if "aten::mm" in e["name"]}, {"aten::mm"})
        self.assertIn("SmallProduct", result.table)
        self.assertIn("LargeProduct", result.table)
        # The innermost frame: MatMul, whose long name is cut from the left.
        self.assertIn("Matrix const&)", rows[0])

    def test_program_that_records_itself_and_the_command_see_the_same(self):
        result = self.profile(BURN, "session", flags=("--activities=cpu",))
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.stdout, b"in session 5000\n")
        self.assertEqual(result.counts["in session"], 5000)
        self.assertEqual(result.counts["outside"], 2)


class SampledProgramTest(ProfileTestCase):
    """Programs that nobody annotated."""

    SAMPLING = ("--activities=sampling",)

    def functions(self, result):
        return {
            row["name"]: row
            for row in result.summary["sampled_functions"]
        }

    def test_share_of_two_functions(self):
        result = self.profile(BURN, "two", flags=self.SAMPLING)
        self.assertEqual(result.status, 0, result.stderr)
        functions = self.functions(result)
        # Totals: the loop itself is an inlined function of its own.
        three = functions["BurnThree()"]["cpu_time_ns"]
        one = functions["BurnOne()"]["cpu_time_ns"]
        self.assertAlmostEqual(three / (three + one), 0.75, delta=0.05)
        # The stack below them is whole.
        folded = (result.out / "stacks.folded").read_text()
        self.assertRegex(folded, r"main;BurnThree\(\);.* \d+")
        self.assert_nested(result.slices())

    def test_threads_and_children_are_sampled(self):
        result = self.profile(
            "sh", "-c", f"{BURN} two & {BURN} threads; wait",
            flags=self.SAMPLING)
        functions = self.functions(result)
        for name in ("BurnThree()", "BurnOne()", "BurnThread()"):
            self.assertGreater(functions[name]["cpu_time_ns"], 50_000_000)

    def test_statically_linked_program_is_sampled_all_the_same(self):
        result = self.profile(
            STATIC, "two", flags=("--activities=cpu,sampling", "--strict"))
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("was sampled only: it is statically linked",
                      result.stderr)
        self.assertNotIn("processes_not_recorded", result.losses)
        self.assertIn("BurnThree()", self.functions(result))

    def test_xz(self):
        path = os.path.join(self.folder.name, "data")
        with open(path, "wb") as file:
            for i in range(300_000):
                file.write(b"%d line\n" % (i * i % 10007))
        plain = subprocess.run(
            ["xz", "-9", "-k", "--stdout", path], capture_output=True,
            check=True)
        result = self.profile("xz", "-9", "-k", "--stdout", path, flags=())
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.stdout, plain.stdout)
        self.assertIn("liblzma", result.table)
        self.assertGreater(len(self.functions(result)), 3)
        self.assertTrue((result.out / "stacks.folded").read_text())
        self.assert_nested(result.slices())

    def test_the_readmes_programs_lose_nothing(self):
        path = os.path.join(self.folder.name, "data")
        pathlib.Path(path).write_text("a line of text\n" * 100_000)
        for words in ((TRAIN_MLP,), ("xz", "-9", "-k", "--stdout", path)):
            # A sample in code without unwind tables (_init) is a loss. In a
            # few runs of a hundred there is one.
            for _ in range(3):
                result = self.profile(*words, flags=("--strict",))
                if result.status == 0:
                    break
            self.assertEqual(result.status, 0, result.losses)

    def test_python(self):
        result = self.profile(
            "python3", "-c", "print(sum(i * i for i in range(10**7)))",
            flags=())
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.stdout, b"333333283333335000000\n")
        self.assertIn("python3", result.table)

    def test_annotated_and_sampled_at_once(self):
        result = self.profile(TRAIN_MLP, "--epochs=10", flags=())
        self.assertIn("mlp::matmul", result.counts)
        self.assertTrue(self.functions(result))
        categories = {e["cat"] for e in result.slices()}
        self.assertLessEqual({"cpu_op", "cpu_sample"}, categories)
        self.assert_nested(result.slices())


if __name__ == "__main__":
    unittest.main()
