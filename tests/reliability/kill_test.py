"""Whatever dies, and when: what the target finished is there or counted.

Each round kills something at a random time and compares three numbers: the
ranges that the target says it has finished (counters.h, in memory that survives
it), those that the trace holds, and what the ledger says is lost. Without a
loss the trace has what the target counted, and at most one range more for each
thread: the one that had ended but was not counted yet.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
REPORT = os.path.abspath(os.environ["KYMO_REPORT"])
VICTIM = os.path.abspath(os.environ["KYMO_VICTIM"])

SEED = int(os.environ.get("KYMO_SEED", "0")) or random.randrange(1, 1 << 32)
ROUNDS_AT_A_TIME = 2
BYTES_OF_A_RANGE = 32
CGROUPS = pathlib.Path("/sys/fs/cgroup")


class Counters:
    """The file of counters.h."""

    SIZE = 4096

    def __init__(self, folder):
        self.path = os.path.join(folder, "counters")
        with open(self.path, "wb") as file:
            file.truncate(self.SIZE)

    def _words(self):
        with open(self.path, "rb") as file:
            return struct.unpack(f"<{self.SIZE // 8}Q", file.read())

    @property
    def pid(self):
        return self._words()[0]

    @property
    def finished(self):
        return sum(self._words()[8::8])

    def wait_for_pid(self):
        deadline = time.monotonic() + 30
        while self.pid == 0:
            if time.monotonic() > deadline:
                raise TimeoutError("the target did not start")
            time.sleep(0.0005)
        return self.pid


@dataclasses.dataclass
class Outcome:
    """What one round left."""

    finished: int  # as the target counted them
    complete: int  # in the trace, with an end
    lost: int  # events, as the ledger counts them
    threads: int
    status: int
    says: str

    def problem(self, statuses):
        if self.status not in statuses:
            return f"ended with {self.status}, not one of {statuses}"
        if self.complete + self.lost < self.finished:
            return "ranges are neither in the trace nor in the ledger"
        if self.complete > self.finished + self.threads:
            return "the trace has more than there was"
        return None


def read_summary(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def outcome(counters, summary, threads, status=0, says=""):
    losses = {e["name"]: e["count"] for e in summary["ledger"]}
    lost = losses["events_dropped_arena_full"]
    lost += losses["drain_bytes_lost"] // BYTES_OF_A_RANGE
    shown = sum(row["count"] for row in summary["key_averages"])
    return Outcome(
        finished=counters.finished,
        complete=shown - losses["ranges_open_at_end"], lost=lost,
        threads=threads, status=status, says=says)


def kill_quietly(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class KillTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        print(f"KYMO_SEED={SEED}", flush=True)

    def rounds(self, count, one_round, statuses):
        """Runs `one_round(folder, random)` `count` times."""
        totals = [0, 0]
        lock = threading.Lock()

        def run(number):
            chance = random.Random(SEED * 1000 + number)
            with tempfile.TemporaryDirectory() as folder:
                result = one_round(folder, chance)
            with lock:
                totals[0] += result.finished
                totals[1] += result.lost
            return number, result

        with concurrent.futures.ThreadPoolExecutor(ROUNDS_AT_A_TIME) as pool:
            for number, result in pool.map(run, range(count)):
                problem = result.problem(statuses)
                if problem:
                    self.fail(f"round {number} of seed {SEED}: {problem}: "
                              f"{result}")
        print(f"{self.id()}: {count} rounds, {totals[0]} ranges finished, "
              f"{totals[1]} lost", flush=True)
        self.assertGreater(totals[0], 0)
        return totals

    def victim(self, counters, chance, death, *more, threads=2, delay_us=None):
        if delay_us is None:
            delay_us = chance.randrange(20000)
        return [VICTIM, counters.path, str(threads), "0", str(delay_us), death,
                *more]

    def command(self, folder, flags=()):
        return [PROFILE, "--quiet", "--activities=cpu", "--export=",
                f"--output_dir={folder}/out", *flags]

    def one_death(self, folder, chance, death, *more):
        """The target does it itself."""
        counters = Counters(folder)
        completed = subprocess.run(
            self.command(folder) + self.victim(counters, chance, death, *more),
            capture_output=True, timeout=60, check=False)
        # Of each program that it was, two and the first.
        threads = 6 if death == "exec" else 3
        return outcome(
            counters, read_summary(f"{folder}/out"), threads=threads,
            status=completed.returncode, says=completed.stderr.decode())

    def test_target_is_killed(self):
        def one_round(folder, chance):
            counters = Counters(folder)
            process = subprocess.Popen(
                self.command(folder) + self.victim(counters, chance, "wait"),
                stderr=subprocess.PIPE)
            target = counters.wait_for_pid()
            time.sleep(chance.random() * 0.02)
            kill_quietly(target)
            says = process.communicate(timeout=60)[1]
            return outcome(
                counters, read_summary(f"{folder}/out"), threads=3,
                status=process.returncode, says=says.decode())
        self.rounds(40, one_round, [-signal.SIGKILL])

    def test_target_leaves_through_exit(self):
        self.rounds(25, lambda *a: self.one_death(*a, "exit"), [0])

    def test_target_aborts(self):
        self.rounds(
            25, lambda *a: self.one_death(*a, "abort"), [-signal.SIGABRT])

    def test_target_crashes(self):
        self.rounds(
            25, lambda *a: self.one_death(*a, "segv"), [-signal.SIGSEGV])

    def test_target_becomes_another_program(self):
        self.rounds(25, lambda *a: self.one_death(*a, "exec"), [0])

    def test_target_runs_out_of_memory(self):
        cgroup = memory_cgroup(96 << 20)
        if cgroup is None:
            print("no memory cgroup can be made here: malloc fails instead",
                  flush=True)
            self.rounds(10, lambda *a: self.one_death(*a, "memory"),
                        [-signal.SIGABRT])
            return
        self.addCleanup(remove_cgroup, cgroup)
        self.rounds(
            10, lambda *a: self.one_death(
                *a, "memory", str(cgroup / "cgroup.procs")),
            [-signal.SIGKILL])

    def test_collector_is_killed_first(self):
        def one_round(folder, chance):
            counters = Counters(folder)
            process = subprocess.Popen(
                self.command(folder, ("--cpu_keep_raw", "--cpu_arena_mib=8")) +
                self.victim(counters, chance, "wait"))
            target = counters.wait_for_pid()
            time.sleep(chance.random() * 0.02)
            process.kill()
            process.wait(timeout=60)
            time.sleep(chance.random() * 0.01)
            kill_quietly(target)
            wait_for_end(target)
            completed = subprocess.run(
                [REPORT, "--export=summary", f"--output_dir={folder}/read",
                 f"{folder}/out/kymo.raw"],
                capture_output=True, timeout=60, check=False)
            if completed.returncode != 0:
                self.fail(completed.stderr.decode())
            return outcome(counters, read_summary(f"{folder}/read"), threads=3)
        self.rounds(30, one_round, [0])

    def test_disk_is_full_while_it_is_drained(self):
        # A folder of 4 MiB, in a file system name space of its own; without
        # root in a user name space, too.
        name_space = "-m" if os.getuid() == 0 else "-rm"
        # Three times as many as the arena and the disk have room for.
        least = 3 * (6 << 20) // BYTES_OF_A_RANGE

        def one_round(folder, chance):
            counters = Counters(folder)
            out = f"{folder}/out"
            os.mkdir(out)
            script = (f'mount -t tmpfs -o size=4m none {out} && "$@"; '
                      f"status=$?; cp {out}/summary.json {folder}; "
                      "exit $status")
            command = self.command(folder, ("--cpu_arena_mib=2", "--strict"))
            completed = subprocess.run(
                ["unshare", name_space, "sh", "-c", script, "sh", *command,
                 *self.victim(counters, chance, "exit", str(least),
                              delay_us=20000 + chance.randrange(20000))],
                capture_output=True, timeout=60, check=False)
            says = completed.stderr.decode()
            try:
                summary = read_summary(folder)
            except OSError:
                self.fail(says)
            return outcome(counters, summary, threads=3,
                           status=completed.returncode, says=says)
        # --strict says that something is lost.
        totals = self.rounds(20, one_round, [3])
        self.assertGreater(totals[1], 0)


def memory_cgroup(limit_bytes):
    """A cgroup with so much memory, or None where none can be made."""
    for parent, limit in ((CGROUPS / "memory", "memory.limit_in_bytes"),
                          (CGROUPS, "memory.max")):
        group = parent / f"kymo-kill-test-{os.getpid()}"
        if not (parent / "cgroup.procs").exists():
            continue
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(limit_bytes))
            (group / "cgroup.procs").open("w").close()
            return group
        except OSError:
            remove_cgroup(group)
    return None


def remove_cgroup(group):
    for _ in range(100):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.01)


def wait_for_end(pid):
    """Of a process that is no child."""
    for _ in range(10000):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                if file.read().rpartition(b")")[2].split()[0] == b"Z":
                    return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.001)


if __name__ == "__main__":
    unittest.main()
