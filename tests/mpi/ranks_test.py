"""Jobs of Open MPI and of MPICH: what `kymo profile --ranks` says of them.

Long, because the tests of a library share a job, which takes seconds.
"""

import collections
import decimal
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

PROFILE = pathlib.Path("tools/profile").resolve()
REPORT = pathlib.Path("tools/report").resolve()
SOURCES = pathlib.Path("tests/mpi").absolute()
HEAT = pathlib.Path("examples/heat/heat.cc").absolute()
ENVIRONMENT = dict(
    os.environ,
    PATH="/usr/bin:/bin:/usr/sbin:/sbin",
    # Open MPI 5 wants one.
    HOME=os.environ.get("HOME") or os.environ["TEST_TMPDIR"],
    # Ranks that wait give the CPU to those that work: there are more of them
    # than cores.
    OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",  # Open MPI 5
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
RANKS = 3
STEPS = 4
LATE_NS = 30_000_000


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], timeout=200,
                          env=ENVIRONMENT, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}:\n"
                             f"{done.stdout}\n{done.stderr}")
    return done


def wait_for(*paths):
    end = time.monotonic() + 200
    while not all(path.exists() for path in paths):
        if time.monotonic() > end:
            raise AssertionError(f"not there: {paths}")
        time.sleep(0.05)


def calls_of(name, trace):
    """By rank, the times at which its calls began and ended, in ns."""
    events = json.loads(trace.read_text(),
                        parse_float=decimal.Decimal)["traceEvents"]
    ranks = {event["pid"]: event["args"]["rank"] for event in events
             if event.get("name") == "MPI ranks"}
    calls = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event["name"] == name:
            begin = int(event["ts"] * 1000)
            calls[ranks[event["pid"]]].append(
                (begin, begin + int(event["dur"] * 1000)))
    return {rank: sorted(times) for rank, times in calls.items()}


class RanksTest:
    """One job, and what its files say; for each implementation of MPI."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.program = cls.build("rank_program.c")
        cls.job = cls.folder / "job"
        cls.screen = cls.record(cls.job, STEPS, 1).stderr

    @classmethod
    def build(cls, source, compiler="mpicc"):
        program = cls.folder / source.partition(".")[0]
        run(f"{compiler}.{cls.mpi}", "-O1", SOURCES / source, "-o", program)
        return program

    @classmethod
    def record(cls, out, *arguments, before=(), program=(), status=0):
        return run(f"mpirun.{cls.mpi}", "-n", RANKS, *before, PROFILE,
                   "--ranks", "--activities=cpu,mpi", f"--output_dir={out}",
                   *(program or [cls.program]), *arguments, status=status)

    def rows(self, analysis, *files):
        files = files or [self.job / "trace.json"]
        text = run(REPORT, f"--analysis={analysis}", "--format=json",
                   "--row_limit=-1", *files).stdout
        return json.loads(text)[analysis]

    def test_the_folder_has_the_job_and_each_rank(self):
        for name in ["trace.json", "summary.json", "ranks.txt", "report.html",
                     "rank-0/trace.json", "rank-2/trace.json"]:
            self.assertTrue((self.job / name).exists(), name)
        self.assertIn("Collective calls", self.screen)
        self.assertNotIn("no trace of rank", self.screen)
        self.assertNotIn("was not measured", self.screen)

    def test_ranks_have_clocks(self):
        rows = self.rows("ranks")
        self.assertEqual([row["rank"] for row in rows], [0, 1, 2])
        for row in rows:
            self.assertEqual(row["finalized"], "yes")
            self.assertGreater(row["wall_ns"], STEPS * LATE_NS)
            # How small it is depends on who else uses the machine.
            self.assertIsNotNone(row["clock_bound_ns"])
        self.assertEqual(rows[0]["clock_bound_ns"], 0)
        self.assertGreater(rows[1]["clock_bound_ns"], 0)

    def test_the_late_rank_is_named(self):
        row, = [row for row in self.rows("collectives")
                if row["name"] == "MPI_Allreduce"]
        self.assertEqual(row["comm"], 0)
        self.assertEqual(row["ranks"], RANKS)
        self.assertEqual(row["operations"], STEPS)
        self.assertEqual(row["incomplete"], 0)
        # Rank 1 sleeps between the barrier and the reduction. On a busy machine
        # another rank may be later.
        trace = self.job / "rank-1/trace.json"
        barriers = calls_of("MPI_Barrier", trace)[1]
        reductions = calls_of("MPI_Allreduce", trace)[1]
        self.assertEqual(len(barriers), STEPS)
        self.assertEqual(len(reductions), STEPS)
        for (_, barrier_end), (begin, _) in zip(barriers, reductions):
            self.assertGreater(begin - barrier_end, LATE_NS * 0.999)
        # For each rank, how long others waited for it.
        late = [0] * RANKS
        calls = calls_of("MPI_Allreduce", self.job / "trace.json")
        for operation in zip(*(calls[rank] for rank in range(RANKS))):
            last = max(begin for begin, _ in operation)
            last_rank = [begin for begin, _ in operation].index(last)
            late[last_rank] += sum(
                min(last, end) - begin for begin, end in operation)
        self.assertEqual(row["late_rank"], late.index(max(late)))
        self.assertEqual(row["waiting_ns"], sum(late))

    def test_every_message_is_matched(self):
        rows = self.rows("messages")
        self.assertEqual({row["partner"] for row in rows}, {"found"})
        messages = {(row["from"], row["to"]): row for row in rows}
        # In each step a ring of blocking messages, one of requests (in the
        # other direction, on the communicator in reverse), and one of
        # persistent requests; and one message from the first to the last.
        for rank in range(RANKS):
            up = (rank + 1) % RANKS
            down = (rank + RANKS - 1) % RANKS
            extra = STEPS if (rank, down) == (0, RANKS - 1) else 0
            self.assertEqual(messages[rank, up]["messages"], 2 * STEPS)
            self.assertEqual(messages[rank, up]["bytes"], STEPS * (800 + 4))
            self.assertEqual(messages[rank, down]["messages"], STEPS + extra)
            self.assertEqual(messages[rank, down]["bytes"],
                             STEPS * 400 + extra * 12)

    def test_the_timeline_names_ranks_and_is_read_back(self):
        trace = self.job / "trace.json"
        names = {event["args"]["name"]
                 for event in json.loads(trace.read_text())["traceEvents"]
                 if event["name"] == "process_name"}
        self.assertEqual(names, {f"rank {rank}: {self.program.name}"
                                 for rank in range(RANKS)})
        self.assertNotIn("events_not_imported", run(REPORT, trace).stdout)

    def test_messages_are_flows(self):
        events = json.loads((self.job / "trace.json").read_text())
        ends = collections.Counter(
            (event["ph"], event["id"]) for event in events["traceEvents"]
            if event.get("cat") == "mpi")
        messages = sum(row["messages"] for row in self.rows("messages"))
        self.assertEqual(ends, {
            (phase, number + 1): 1
            for phase in "sf" for number in range(messages)})

    def test_waits_for_requests_are_split(self):
        row, = self.rows("mpi_waits")
        self.assertEqual(row["name"], "MPI_Waitall")
        self.assertEqual(row["calls"], RANKS * STEPS)
        # A request to receive, and one to send, which MPICH has completed in
        # MPI_Isend already.
        self.assertIn(row["messages"], [RANKS * STEPS, 2 * RANKS * STEPS])
        self.assertEqual(row["waiting_ns"] + row["transfer_ns"],
                         row["total_ns"])
        self.assertGreaterEqual(row["transfer_ns"], 0)

    def test_phases_are_ranges(self):
        events = json.loads((self.job / "trace.json").read_text())
        names = [event.get("name") for event in events["traceEvents"]
                 if event.get("ph") == "b"]
        self.assertEqual(names.count("phase 1"), RANKS)
        self.assertEqual(names.count(f"phase {STEPS}"), RANKS)

    def test_seldom_calls_are_right_and_their_messages_matched(self):
        out = self.folder / "calls"
        self.record(out, program=[self.build("calls_program.c"),
                                  self.folder / "of-all"])
        rows = self.rows("messages", out / "trace.json")
        self.assertEqual(
            {(row["from"], row["to"], row["partner"]):
             (row["messages"], row["bytes"]) for row in rows},
            {(0, 1, "found"): (309, 1252), (0, 2, "found"): (5, 20),
             (1, 0, "found"): (5, 28), (1, 2, "found"): (4, 16),
             (2, 0, "found"): (3, 24), (2, 1, "found"): (1, 4)})
        events = json.loads((out / "trace.json").read_text())["traceEvents"]
        numbers = {
            name: [event["args"]["message"] for event in events
                   if event["name"] == name]
            for name in ["MPI_Mprobe", "MPI_Mrecv"]}
        self.assertEqual(numbers["MPI_Mprobe"], [0, 1, 2])
        self.assertEqual(numbers["MPI_Mrecv"], [0, 1, 2])
        self.assertLessEqual(
            {("MPI_Win_fence", 4), ("MPI_Win_free", 1), ("MPI_File_open", 1),
             ("MPI_File_write_at_all", 3), ("MPI_File_iwrite_all", 1),
             ("MPI_File_close", 1)},
            {(row["name"], row["operations"])
             for row in self.rows("collectives", out / "trace.json")
             if row["ranks"] == RANKS and row["incomplete"] == 0})
        self.assertEqual(
            [(row["name"], row["ranks"])
             for row in self.rows("collectives", out / "trace.json")
             if row["comm_name"] == "pair"], [("MPI_Barrier", 2)])

    def test_fortran_is_recorded(self):
        out = self.folder / "fortran"
        self.record(out, program=[self.build("fortran_program.f90", "mpif90")])
        message, = self.rows("messages", out / "trace.json")
        self.assertEqual(
            [message[key] for key in
             ["from", "to", "partner", "messages", "bytes"]],
            [1, 0, "found", 4, 4 * 8])
        # Each call is there once.
        self.assertEqual(
            {(row["name"], row["operations"], row["incomplete"], row["ranks"])
             for row in self.rows("collectives", out / "trace.json")},
            {(name, operations, 0, RANKS) for name, operations in
             [("MPI_Init", 1), ("MPI_Comm_dup", 1), ("MPI_Allreduce", 4),
              ("MPI_Barrier", 1), ("MPI_Finalize", 1)]})
        self.assertEqual([row["finalized"] for row in
                          self.rows("ranks", out / "trace.json")],
                         ["yes"] * RANKS)

    def test_a_job_that_ends_early_has_an_answer(self):
        for end in ["exit", "abort"]:
            out = self.folder / end
            # What a launcher makes of such a rank differs. Some kill the
            # commands, and the answer comes after them.
            try:
                self.record(out, 1, 0, end)
            except AssertionError:
                pass
            wait_for(out / "ranks.txt", out / "trace.json")
            rows = self.rows("ranks", out / "trace.json")
            self.assertEqual([row["rank"] for row in rows], [0, 1, 2], end)
            self.assertEqual(rows[RANKS - 1]["finalized"], "no")
            reductions, = [row for row in
                           self.rows("collectives", out / "trace.json")
                           if row["name"] == "MPI_Allreduce"]
            self.assertEqual(reductions["ranks"], RANKS)
            self.assertEqual(reductions["incomplete"], 0)

    def test_a_job_whose_first_rank_dies_ends(self):
        for options in [[], ["--keep_ranks=1"]]:
            out = self.folder / f"die-{len(options)}"
            try:  # the launcher's status is its own
                run(f"mpirun.{self.mpi}", "-n", RANKS, PROFILE, "--ranks",
                    *options, "--activities=cpu,mpi", f"--output_dir={out}",
                    self.program, 1, len(options), "die")
            except AssertionError:
                pass
            wait_for(out / "ranks.txt", out / "trace.json")
            rows = self.rows("ranks", out / "trace.json")
            if options:
                # What says most of this job is the rank that died.
                self.assertEqual([(row["rank"], row["ended"]) for row in rows],
                                 [(0, "signal 9")])
                continue
            self.assertEqual([row["rank"] for row in rows], [0, 1, 2])
            barriers, = [row for row in
                         self.rows("collectives", out / "trace.json")
                         if row["name"] == "MPI_Barrier"]
            self.assertEqual((barriers["operations"], barriers["incomplete"],
                              barriers["late_rank"]), (2, 1, 0))
            # Rank 1 waited for a message of rank 0.
            never, = [row for row in self.rows("messages", out / "trace.json")
                      if row["partner"] == "never came"]
            self.assertEqual((never["from"], never["to"], never["messages"]),
                             (0, 1, 1))
            self.assertGreater(never["late_sender_ns"], 0)
            # Rank 2 waited for it, too, and it is named.
            self.assertEqual(rows[0]["ended"], "signal 9")
            self.assertGreater(rows[0]["delay_ns"], never["late_sender_ns"])
            finding = self.rows("findings", out / "trace.json")[0]
            self.assertRegex(
                finding["title"],
                r"^Rank 0 was killed by signal 9 \(Killed\) after .*, without "
                r"MPI_Finalize; 2 ranks waited .* in all for it$")

    def deadlocks(self, seconds):
        """Findings of a job that is ended so long after its ranks began."""
        out = self.folder / f"deadlock-{seconds}"
        here = self.folder / f"here-{seconds}"
        here.mkdir()
        job = subprocess.Popen(
            [f"mpirun.{self.mpi}", "-n", str(RANKS), PROFILE, "--ranks",
             "--activities=cpu,mpi", f"--output_dir={out}", self.program, "1",
             "0", "deadlock", here], env=ENVIRONMENT,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(*(here / str(rank) for rank in range(RANKS)))
        time.sleep(seconds)
        job.terminate()
        job.wait(timeout=200)
        wait_for(out / "ranks.txt", out / "summary.json")
        return json.loads((out / "summary.json").read_text())["findings"]

    def test_a_deadlock_is_said_to_be_one(self):
        # On a busy machine, ranks may take long from the file to the call.
        for seconds in [1, 8, 60]:
            findings = self.deadlocks(seconds)
            titles = [finding["title"] for finding in findings
                      if finding["id"] == "deadlock"]
            if titles:
                break
        self.assertNotIn("late_rank", [finding["id"] for finding in findings])
        self.assertEqual(len(titles), 1)
        self.assertRegex(
            titles[0],
            r"^Deadlock of 2 ranks since .* after the start: rank 0 waits for "
            r"rank 1 in MPI_Recv \(tag 5\), rank 1 waits for rank 0 in "
            r"MPI_Recv \(tag 5\); 1 rank more waits for these$")

    def test_a_rank_without_the_library_keeps_nobody_waiting(self):
        out = self.folder / "alone"
        without = ('if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then '
                   'unset LD_PRELOAD; fi; exec "$@"')
        done = self.record(out, 1, 0,
                           program=["sh", "-c", without, "sh", self.program])
        self.assertIn("was not measured", done.stderr)
        rows = self.rows("ranks", out / "trace.json")
        self.assertEqual([row["rank"] for row in rows], [0, 2])


class OpenMpiTest(RanksTest, unittest.TestCase):
    mpi = "openmpi"

    def test_averages_of_all_ranks_and_the_traces_of_some(self):
        out = self.folder / "kept"
        run("mpirun.openmpi", "-n", 5, PROFILE, "--ranks", "--keep_ranks=2",
            "--activities=cpu,mpi", f"--output_dir={out}", self.program,
            STEPS, 1)
        averages = json.loads((out / "job_averages.json").read_text())
        self.assertEqual([rank["rank"] for rank in averages["ranks"]],
                         list(range(5)))
        reduction, = [name for name in averages["averages"]
                      if name["name"] == "MPI_Allreduce"]
        self.assertEqual(reduction["calls"]["count"], 5 * STEPS)
        self.assertEqual(reduction["totals_of_ranks"]["count"], 5)
        for rank, calls in calls_of("MPI_Allreduce",
                                    out / "trace.json").items():
            total = sum(end - begin for begin, end in calls)
            # Times in the file are rounded.
            self.assertLessEqual(
                total, reduction["totals_of_ranks"]["most_ns"] + 1_000 * STEPS)
            self.assertGreaterEqual(
                total, reduction["totals_of_ranks"]["least_ns"] - 1_000 * STEPS)
        by_work = sorted(averages["ranks"], key=lambda rank: rank["work_ns"])
        kept = {by_work[0]["rank"], by_work[-1]["rank"]}
        for rank in range(5):
            self.assertEqual((out / f"rank-{rank}").exists(), rank in kept)
        self.assertEqual({row["rank"] for row in
                          self.rows("ranks", out / "trace.json")}, kept)
        self.assertIn("Averages of 5 ranks", (out / "ranks.txt").read_text())
        summary = json.loads((out / "summary.json").read_text())
        self.assertEqual(summary["job"], averages)

    def test_a_rank_keeps_all_that_the_tables_are_made_of(self):
        """However small --max_size is, and the same as the raw files."""
        out = self.folder / "small"
        run("mpirun.openmpi", "-n", RANKS, PROFILE, "--ranks",
            "--max_size=20KiB", "--cpu_keep_raw", "--activities=cpu,mpi",
            f"--output_dir={out}", self.program, STEPS, 1)
        traces = [out / f"rank-{rank}/trace.json.gz" for rank in range(RANKS)]
        raw = [out / f"rank-{rank}/kymo.raw" for rank in range(RANKS)]
        for analysis in ["messages", "collectives", "mpi_waits", "imbalance"]:
            self.assertEqual(self.rows(analysis, *traces),
                             self.rows(analysis, *raw), analysis)
        summary = json.loads((out / "summary.json").read_text())
        found = [row["messages"] for row in summary["messages"]
                 if row["partner"] == "found"]
        whole = [row["messages"] for row in self.rows("messages")]
        self.assertEqual(sum(found), sum(whole))
        self.assertEqual(len(found), len(summary["messages"]))

    def test_an_offset_of_a_clock_is_found(self):
        """Each rank has a clock of its own, 100 s from the next one."""
        if os.geteuid() != 0:
            self.skipTest("time name spaces take root")
        out = self.folder / "clocks"
        self.record(out, 1, 0, before=[
            "sh", "-c", "exec unshare -T --monotonic="
            "$((100 * OMPI_COMM_WORLD_RANK)) \"$@\"", "sh"])
        for rank in range(RANKS):
            trace = json.loads((out / f"rank-{rank}/trace.json").read_text())
            clocks = [event["args"] for event in trace["traceEvents"]
                      if event.get("name") == "MPI clock"]
            self.assertEqual(len(clocks), 2)
            for clock in clocks:
                self.assertLessEqual(
                    abs(clock["offset_ns"] + rank * 100 * 10**9),
                    clock["bound_ns"])

    def test_the_example_is_recorded(self):
        heat = self.folder / "heat"
        run("mpicxx.openmpi", "-std=c++20", "-O1", HEAT, "-ltbb", "-o", heat)
        steps = 20
        plate = [60, steps]
        alone = run("mpirun.openmpi", "-n", 1, heat, *plate).stdout
        out = self.folder / "heated"
        recorded = self.record(out, *plate, 1, program=[heat]).stdout
        self.assertIn("20 steps: heat ", recorded)
        self.assertEqual(recorded, alone)
        row, = self.rows("mpi_waits", out / "trace.json")
        self.assertEqual(row["calls"], RANKS * steps)
        # Two ranks have one neighbour, and one has two.
        self.assertEqual(row["messages"], 2 * 4 * steps)
        calls = {row["name"]: row["operations"]
                 for row in self.rows("collectives", out / "trace.json")}
        self.assertEqual(calls, {"MPI_Init_thread": 1,
                                 "MPI_Allreduce": steps // 10,
                                 "MPI_Reduce": 1, "MPI_Finalize": 1})
        self.check_clocks_from_messages(out)


    def check_clocks_from_messages(self, out):
        """Without its clocks, and with one of them wrong by a second."""
        files = []
        for rank in range(RANKS):
            trace = json.loads((out / f"rank-{rank}/trace.json").read_text())
            events = [event for event in trace["traceEvents"]
                      if event.get("name") != "MPI clock"]
            for event in events:
                if rank == 1 and "ts" in event:
                    event["ts"] += 1e6
            files.append(out / f"no-clock-{rank}.json")
            files[-1].write_text(json.dumps(dict(trace, traceEvents=events)))
        measured = self.rows("ranks", out / "trace.json")
        found = self.rows("ranks", *files)
        for truth, row in zip(measured, found):
            moved = (row["start_ns"] - found[0]["start_ns"] -
                     truth["start_ns"] + measured[0]["start_ns"])
            # Times of 1 ns were rounded.
            self.assertLessEqual(abs(moved), row["clock_bound_ns"] +
                                 truth["clock_bound_ns"] + 1_000)
            self.assertLess(row["clock_bound_ns"], 500_000_000)


class MpichTest(RanksTest, unittest.TestCase):
    mpi = "mpich"


class PlainRanksTest(unittest.TestCase):
    """Ranks that environment variables name, and that use no MPI."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, rank, size, out, before=(), flags=(), seconds=0.1,
              **variables):
        """Its program goes on until the test says so, and a bit longer."""
        program = (f"until [ -e '{self.folder}/go' ]; do sleep 0.05; done; "
                   f"sleep {seconds}")
        return subprocess.Popen(
            [*before, str(PROFILE), "--ranks", "--activities=cpu", *flags,
             f"--output_dir={out}", "sh", "-c", program],
            env=dict(ENVIRONMENT, RANK=str(rank), WORLD_SIZE=str(size),
                     **variables),
            encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, *ranks, seen=()):
        """What each said. Waits until rank 0 has seen these files."""
        wait_for(*seen)
        (self.folder / "go").touch()
        said = [rank.communicate(timeout=200)[1] for rank in ranks]
        (self.folder / "go").unlink()
        for rank, text in zip(ranks, said):
            self.assertEqual(rank.returncode, 0, text)
        return said

    @staticmethod
    def presence(out, *ranks):
        return [out / f".kymo-job/rank-{rank}" for rank in ranks]

    def rows(self, out):
        text = run(REPORT, "--analysis=ranks", "--format=json",
                   out / "trace.json").stdout
        return json.loads(text)["ranks"]

    def test_clocks_are_measured_over_the_network(self):
        if os.geteuid() != 0:
            self.skipTest("time name spaces take root")
        out = self.folder / "job"
        self.end(*[
            self.start(rank, RANKS, out, before=[
                "unshare", "-T", f"--monotonic={100 * rank}"])
            for rank in range(RANKS)], seen=[
                out / ".kymo-job/address", *self.presence(out, *range(RANKS))])
        rows = self.rows(out)
        self.assertEqual([row["rank"] for row in rows], [0, 1, 2])
        for row in rows:
            self.assertIsNotNone(row["clock_bound_ns"])
            self.assertGreater(row["wall_ns"], 100_000_000)
            self.assertIsNone(row["finalized"])
        for rank in range(RANKS):
            trace = json.loads((out / f"rank-{rank}/trace.json").read_text())
            clocks = [event["args"] for event in trace["traceEvents"]
                      if event.get("name") == "job clock"]
            self.assertEqual(len(clocks), 2)
            for clock in clocks:
                self.assertLessEqual(
                    abs(clock["offset_ns"] + rank * 100 * 10**9),
                    clock["bound_ns"])

    def test_if_no_other_rank_comes_there_is_an_answer(self):
        out = self.folder / "job"
        said, = self.end(self.start(0, 3, out))
        self.assertIn("no trace of ranks 1-2", said)
        self.assertEqual([row["rank"] for row in self.rows(out)], [0])
        absent, = [row for row in
                   json.loads((out / "summary.json").read_text())["ledger"]
                   if row["name"] == "ranks_absent"]
        self.assertEqual(absent["count"], 2)

    def test_a_quiet_job_says_nothing(self):
        flags = ["--export=html", "--max_size=10KiB"]
        said, = self.end(self.start(0, 1, self.folder / "job", flags=flags))
        self.assertEqual(said.count("report.html is left out"), 2, said)
        said, = self.end(self.start(0, 1, self.folder / "quiet",
                                    flags=[*flags, "--quiet"]))
        self.assertEqual(said, "")

    def test_a_rank_that_does_not_come_is_named(self):
        out = self.folder / "job"
        said, _ = self.end(*[self.start(rank, 3, out) for rank in (0, 1)],
                           seen=self.presence(out, 0, 1))
        self.assertIn("no trace of rank 2", said)
        self.assertIn("no trace of rank 2", (out / "ranks.txt").read_text())
        self.assertEqual([row["rank"] for row in self.rows(out)], [0, 1])
        absent, = [row for row in
                   json.loads((out / "summary.json").read_text())["ledger"]
                   if row["name"] == "ranks_absent"]
        self.assertEqual(absent["count"], 1)
        self.assertIn("missing: rank 2, because ", absent["meaning"])

    def test_ranks_that_share_no_folder_send_their_traces(self):
        network = {"KYMO_RANKS_TOKEN": os.urandom(16).hex(),
                   "KYMO_RANKS_ADDRESS": "127.0.0.1"}
        strange = dict(network, KYMO_RANKS_TOKEN=os.urandom(16).hex(),
                       KYMO_RANKS_ADDRESS="127.0.0.1:1")
        said = self.end(
            self.start(0, 3, self.folder / "0", **network),
            self.start(1, 3, self.folder / "1", **network),
            self.start(2, 3, self.folder / "2", **strange),
            seen=self.presence(self.folder / "0", 0, 1))
        self.assertIn("no trace of rank 2", said[0])
        self.assertIn("the answer of the job lacks this rank", said[2])
        rows = self.rows(self.folder / "0")
        self.assertEqual([row["rank"] for row in rows], [0, 1])
        self.assertGreater(rows[1]["clock_bound_ns"], 0)
        # Rank 0 asks for the traces that it keeps alone.
        self.end(*[
            self.start(rank, 3, self.folder / f"k{rank}", flags=[
                "--keep_ranks=2"], seconds=[0.1, 1, 0.5][rank], **network)
            for rank in range(3)],
                 seen=self.presence(self.folder / "k0", 0, 1, 2))
        averages = json.loads((self.folder / "k0/job_averages.json").read_text())
        self.assertEqual(len(averages["ranks"]), 3)
        by_work = sorted(averages["ranks"], key=lambda rank: rank["work_ns"])
        kept = {by_work[0]["rank"], by_work[-1]["rank"]}
        self.assertEqual({row["rank"] for row in self.rows(self.folder / "k0")},
                         kept)
        # That of rank 0 is there in any case.
        for rank in {1, 2} - kept:
            self.assertFalse((self.folder / f"k0/rank-{rank}").exists())
        # Each has its own, and nothing of the meeting is left.
        self.assertTrue((self.folder / "1/rank-1/trace.json").exists())
        self.assertEqual(list(self.folder.glob("*/.kymo-job*")), [])


if __name__ == "__main__":
    unittest.main()
