"""The newest is kept, and written when it is asked for or when all is over."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
TARGET = os.path.abspath(os.environ["KYMO_TARGET"])
VICTIM = os.path.abspath(os.environ["KYMO_VICTIM"])


class Summary:
    """A summary.json."""

    def __init__(self, folder):
        with open(os.path.join(folder, "summary.json"),
                  encoding="utf-8") as file:
            self.json = json.load(file)
        self.counts = {
            r["name"]: r["count"] for r in self.json["key_averages"]
        }
        self.ledger = {e["name"]: e["count"] for e in self.json["ledger"]}
        self.profiled_ns = self.json["totals"]["profiled_ns"]


class FlightRecorderTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out")

    def command(self, amount, *flags):
        return [PROFILE, "--quiet", "--export=", f"--output_dir={self.out}",
                f"--flight_recorder={amount}", *flags]

    def run_command(self, amount, *words, flags=(), status=0):
        completed = subprocess.run(
            self.command(amount, *flags) + list(words), capture_output=True,
            timeout=60, check=False, encoding="utf-8")
        self.assertEqual(completed.returncode, status, completed.stderr)
        return completed

    def start(self, amount, *words, flags=()):
        process = subprocess.Popen(
            self.command(amount, *flags) + list(words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def start_waiting(self, amount, flags=()):
        """A target that records a range each millisecond until SIGTERM."""
        process = self.start(amount, TARGET, "wait_for_signal", flags=flags)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def end(self, process):
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 7)

    def dump(self, pid, status=0, **options):
        completed = subprocess.run(
            [PROFILE, f"--dump={pid}"], capture_output=True, timeout=60,
            check=False, encoding="utf-8", **options)
        self.assertEqual(completed.returncode, status, completed.stderr)
        if status != 0:
            return completed.stderr
        return re.match(r"kymo: wrote (.*\.raw); ", completed.stderr)[1]

    def report(self, path):
        folder = tempfile.mkdtemp(dir=self.folder)
        subprocess.run(
            [REPORT, "--quiet", "--export=summary", f"--output_dir={folder}",
             path], capture_output=True, timeout=60, check=True)
        return Summary(folder)

    def child_of(self, process):
        path = f"/proc/{process.pid}/task/{process.pid}/children"
        return int(pathlib.Path(path).read_text().split()[0])

    def test_keeps_the_newest_that_fit(self):
        count = 1_000_000
        self.run_command("4MiB", TARGET, "ranges", str(count))
        summary = Summary(self.out)
        shown = summary.counts["inner"]
        self.assertLessEqual(shown, (4 << 20) // 32)
        self.assertGreater(shown, (2 << 20) // 32)
        # The range around them all was the first to go.
        self.assertEqual(shown + summary.ledger["events_overwritten"],
                         count + 1)
        self.assertEqual(summary.ledger["ends_without_begin"], 0)
        # That is what was asked for.
        self.assertFalse(summary.json["anything_lost"], summary.ledger)

    def test_what_made_room_as_asked_passes_strict(self):
        self.run_command("1MiB", TARGET, "ranges", "200000",
                         flags=("--strict",))
        self.assertGreater(Summary(self.out).ledger["events_overwritten"], 0)

    def test_memory_that_does_not_hold_the_time_is_a_loss(self):
        self.run_command("60s", TARGET, "ranges", "200000",
                         flags=("--cpu_arena_mib=1", "--strict"), status=3)
        ledger = Summary(self.out).ledger
        self.assertGreater(ledger["events_dropped_arena_full"], 0)
        self.assertEqual(ledger["events_overwritten"], 0)

    def test_windows_tell_of_no_other_loss(self):
        self.run_command("1MiB", TARGET, "ranges", "200000",
                         flags=("--cpu_keep_raw",))
        for windows in ("always", "never"):
            says = subprocess.run(
                [REPORT, f"--raw_windows={windows}", f"{self.out}/kymo.raw"],
                capture_output=True, timeout=60, check=True,
                encoding="utf-8").stderr
            self.assertIn("events_overwritten", says)
            self.assertNotIn("Lost:", says)

    def test_keeps_the_last_seconds(self):
        process = self.start_waiting("1s")
        time.sleep(2.5)
        self.end(process)
        summary = Summary(self.out)
        self.assertGreater(summary.profiled_ns, 0.9e9)
        self.assertLess(summary.profiled_ns, 1.6e9)
        # What is older than was asked for is no loss.
        self.assertFalse(summary.json["anything_lost"], summary.ledger)

    def test_dump_on_request(self):
        process = self.start_waiting("16MiB")
        target = self.child_of(process)
        time.sleep(1)  # a core may be away for half of that
        # By the target's id, then by the command's.
        first = self.report(self.dump(target))
        time.sleep(1)
        second = self.report(self.dump(process.pid))
        self.assertGreater(first.counts["waiting"], 10)
        self.assertGreater(second.counts["waiting"], first.counts["waiting"])
        self.assertEqual(sorted(os.listdir(self.out)),
                         [".kymo-files", "dump-1.raw", "dump-2.raw"])
        self.end(process)
        self.assertGreaterEqual(Summary(self.out).counts["waiting"],
                                second.counts["waiting"])

    def test_dump_while_threads_record_at_full_speed(self):
        counters = self.make_counters()
        process = self.start("2MiB", VICTIM, counters, "4", "0", "0", "wait")
        self.wait_for(lambda: self.finished(counters) > 1_000_000)
        for _ in range(10):
            before = self.finished(counters)
            dump = self.report(self.dump(process.pid))
            after = self.finished(counters)
            shown = sum(dump.counts.values())
            # Nearly all of the memory, whatever was overwritten meanwhile.
            self.assertGreater(shown, (1 << 20) // 32)
            self.assertEqual(dump.ledger["records_corrupt"], 0)
            seen = shown + dump.ledger["events_overwritten"]
            # What changes hands between two looks is not seen: at most all.
            self.assertGreater(seen, before - (2 << 20) // 32)
            self.assertLess(seen, after * 1.01 + 100_000)
        os.kill(self.child_of(process), signal.SIGKILL)
        self.assertEqual(process.wait(timeout=60), -signal.SIGKILL)

    def test_dump_by_signal_only_if_the_user_asks(self):
        process = self.start_waiting("16MiB", flags=("--dump_signal=USR2",))
        process.send_signal(signal.SIGUSR2)
        path = os.path.join(self.out, "dump-1.raw")
        self.wait_for(lambda: os.path.exists(path))
        self.assertGreater(self.report(path).counts["waiting"], 0)
        self.end(process)
        # Else it is the target's, which dies of it.
        process = self.start_waiting("16MiB")
        process.send_signal(signal.SIGUSR2)
        self.assertEqual(process.wait(timeout=60), -signal.SIGUSR2)

    def test_crash_of_the_target(self):
        counters = self.make_counters()
        self.run_command("4MiB", VICTIM, counters, "2", "0", "200000", "segv",
                         status=-signal.SIGSEGV)
        summary = Summary(self.out)
        seen = (sum(summary.counts.values()) -
                summary.ledger["ranges_open_at_end"] +
                summary.ledger["events_overwritten"])
        self.assertGreaterEqual(seen, self.finished(counters))

    def test_what_remains_when_the_collector_is_killed(self):
        counters = self.make_counters()
        process = self.start("4MiB", VICTIM, counters, "2", "0", "0", "wait",
                             flags=("--cpu_keep_raw",))
        self.wait_for(lambda: self.finished(counters) > 500_000)
        target = self.child_of(process)
        process.kill()
        process.wait(timeout=60)
        # It goes on, and so do its records.
        before = self.finished(counters)
        self.wait_for(lambda: self.finished(counters) > before + 500_000)
        os.kill(target, signal.SIGKILL)
        self.wait_for(lambda: not self.is_alive(target))
        summary = self.report(f"{self.out}/kymo.raw")
        seen = (sum(summary.counts.values()) -
                summary.ledger["ranges_open_at_end"] +
                summary.ledger["events_overwritten"])
        self.assertGreaterEqual(seen, self.finished(counters))

    def test_stacks_have_names_when_their_beginnings_are_gone(self):
        self.run_command(
            "8MiB", TARGET, "operations", "200000",
            flags=("--group_by_stack_n=2",))
        self.assertGreater(Summary(self.out).ledger["events_overwritten"], 0)
        table = pathlib.Path(self.out, "key_averages.txt").read_text(
            encoding="utf-8")
        self.assertIn("SmallProduct", table)
        self.assertIn("LargeProduct", table)

    def test_nobody_else_may_ask(self):
        if os.getuid() != 0:
            self.skipTest("NOT TESTED HERE: takes two users")
        process = self.start_waiting("16MiB")
        try:
            says = self.dump(process.pid, status=1, user=65534)
        except PermissionError:
            self.skipTest("NOT TESTED HERE: nobody cannot read the command")
        self.assertIn("only the user who started this command", says)
        # The run keeps the names of its files in one of its own.
        self.assertLessEqual(set(os.listdir(self.out)), {".kymo-files"})
        self.end(process)

    def test_what_cannot_be_is_said(self):
        self.assertIn("is not recorded", self.dump(os.getpid(), status=1))
        for amount, flags, says in (
            ("5", (), "1s to 86400s"),
            ("1s", ("--activities=sampling",), "--activities=cpu"),
            ("1s", ("--activities=cpu,cuda",), "nor what devices do"),
            ("1s", ("--profile_memory",), "leave out --profile_memory"),
            ("1s", ("--when_full=drain",), "leave out cpu_when_full"),
            ("1s", ("--dump_signal=TERM",), "USR1, USR2"),
        ):
            completed = self.run_command(amount, "true", flags=flags, status=2)
            self.assertIn(says, completed.stderr)

    def is_alive(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text(
                encoding="utf-8").rsplit(") ", 1)[1][0] != "Z"
        except FileNotFoundError:
            return False

    def make_counters(self):
        path = os.path.join(self.folder, "counters")
        with open(path, "wb") as file:
            file.truncate(4096)
        return path

    def finished(self, counters):
        data = pathlib.Path(counters).read_bytes()
        return sum(int.from_bytes(data[i:i + 8], "little")
                   for i in range(64, len(data), 64))

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            if time.monotonic() > deadline:
                self.fail("it did not happen")
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
