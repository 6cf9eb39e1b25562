"""The command, and tools of others, on programs that are annotated for those."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


def path_of(variable):
    return os.path.abspath(os.environ[variable])


class Run:
    """One run of the command: its trace, and what tools behind it wrote."""

    def __init__(self, *words, activities="cpu", flags=(), environment=None):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            # The command itself may use the interface, too.
            log_path = out / f"log.{os.path.basename(words[0])}"
            completed = subprocess.run(
                [path_of("KYMO_PROFILE"), f"--activities={activities}",
                 f"--output_dir={out / 'profile'}", *flags, *words],
                env={**os.environ, **(environment or {}),
                     "NVTX_LOG": str(out / "log"),
                     "ITT_LOG": str(out / "log")},
                capture_output=True, check=False, text=True)
            self.status = completed.returncode
            self.stdout = completed.stdout
            self.stderr = completed.stderr
            self.log = (log_path.read_text(encoding="utf-8").splitlines()
                        if log_path.exists() else [])
            profile = out / "profile"
            self.events = json.loads(
                (profile / "trace.json").read_text())["traceEvents"]
            summary = json.loads((profile / "summary.json").read_text())
            self.losses = {entry["name"]: entry["count"]
                           for entry in summary["ledger"] if entry["count"]}
            self.table = (profile / "key_averages.txt").read_text()

    def counts(self, category):
        return collections.Counter(
            event["name"] for event in self.events
            if event.get("cat") == category and event["ph"] != "e")

    def named(self, name):
        return [event for event in self.events if event["name"] == name]

    def thread_names(self):
        return " ".join(event["args"]["name"] for event in self.events
                        if event["name"] == "thread_name")


@unittest.skipUnless(os.environ["KYMO_NVTX_CLIENT"],
                     "built without NVTX's headers")
class NvtxTest(unittest.TestCase):

    def test_an_annotated_program_shows_its_ranges(self):
        run = Run(path_of("KYMO_NVTX_CLIENT"))
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.stdout, "0 0 0 0\n" * 3)
        self.assertEqual(
            run.counts("nvtx_range"),
            {"step": 3, "factorise": 3, "everything": 1, "open at exit": 1})
        for event in run.named("factorise"):
            self.assertEqual(event["args"]["domain"], "solver")
        self.assertIn("factorise", run.table)
        # One pop too many, one range that nobody ended.
        self.assertEqual(run.losses,
                         {"ends_without_begin": 1, "ranges_open_at_end": 1})

    def test_a_setting_switches_it_off(self):
        run = Run(path_of("KYMO_NVTX_CLIENT"), flags=["--capture_nvtx=0"])
        self.assertEqual(run.stdout, "-2 -2 -2 -2\n" * 3)
        self.assertFalse(run.counts("nvtx_range"))

    def test_it_can_be_asked_for_alone(self):
        run = Run(path_of("KYMO_NVTX_CLIENT"), activities="nvtx")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(
            run.counts("nvtx_range"),
            {"step": 3, "factorise": 3, "everything": 1, "open at exit": 1})
        self.assertEqual(run.losses,
                         {"ends_without_begin": 1, "ranges_open_at_end": 1})

    def test_a_tool_behind_ours_gets_every_call_with_its_own_handles(self):
        run = Run(path_of("KYMO_NVTX_CLIENT"),
                  environment={"NVTX_INJECTION64_PATH":
                               path_of("KYMO_NVTX_TOOL")})
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.stdout, "70 72 73 71\n" * 3)
        step = ["push step", "push solver factorise", "pop solver", "pop"]
        self.assertEqual(
            run.log,
            ["start everything", "thread nobody", *step, *step, *step,
             "end 12345", "pop", "push open at exit"])
        self.assertEqual(
            run.counts("nvtx_range"),
            {"step": 3, "factorise": 3, "everything": 1, "open at exit": 1})
        for event in run.named("factorise"):
            self.assertEqual(event["args"]["domain"], "solver")

    def test_python_is_heard(self):
        script = (
            "import ctypes, sys\n"
            "nvtx = ctypes.CDLL(sys.argv[1])\n"
            "nvtx.nvtxRangePushA(b'from Python')\n"
            "nvtx.nvtxMarkW(ctypes.c_wchar_p('wide: \u00e4'))\n"
            "nvtx.nvtxRangePop()\n")
        run = Run(sys.executable, "-c", script,
                  path_of("KYMO_NVTX_FUNCTIONS"))
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.counts("nvtx_range"), {"from Python": 1})
        self.assertEqual(len(run.named("wide: \u00e4")), 1)

    def test_a_tool_that_is_not_there_is_no_harm(self):
        run = Run(path_of("KYMO_NVTX_CLIENT"),
                  environment={"NVTX_INJECTION64_PATH": "/no/such/tool.so"})
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.counts("nvtx_range")["step"], 3)


class IttTest(unittest.TestCase):

    def test_onetbb_shows_its_algorithms(self):
        run = Run(path_of("KYMO_TBB_CLIENT"), activities="cpu,itt")
        self.assertEqual(run.status, 0, run.stderr)
        counts = run.counts("itt_task")
        self.assertGreaterEqual(counts["tbb_parallel_for"], 3)
        self.assertGreaterEqual(counts["tbb_parallel_reduce"], 1)
        self.assertGreater(counts["task"], 4)
        for event in run.named("tbb_parallel_for"):
            self.assertEqual(event["args"]["domain"], "tbb")
        self.assertIn("TBB Worker Thread", run.thread_names())
        self.assertNotIn("ends_without_begin", run.losses)

    def test_it_is_recorded_where_it_is_asked_for(self):
        run = Run(path_of("KYMO_TBB_CLIENT"))
        self.assertFalse(run.counts("itt_task"))
        run = Run(path_of("KYMO_TBB_CLIENT"), flags=["--itt_capture"])
        self.assertTrue(run.counts("itt_task"))

    def test_it_can_be_asked_for_alone(self):
        run = Run(path_of("KYMO_EMIT_CLIENT"), activities="itt")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.counts("itt_task"), {"outer": 1, "inner": 1})
        self.assertFalse(run.counts("cpu_op"))
        self.assertEqual(run.losses, {})

    def test_a_tool_behind_ours_gets_the_tasks(self):
        run = Run(path_of("KYMO_TBB_CLIENT"), activities="cpu,itt",
                  environment={"INTEL_LIBITTNOTIFY64":
                               path_of("KYMO_ITT_TOOL")})
        self.assertEqual(run.status, 0, run.stderr)
        begun = run.log.count("begin tbb tbb_parallel_for")
        self.assertGreaterEqual(begun, 3)
        self.assertEqual(run.counts("itt_task")["tbb_parallel_for"], begun)


class EmitTest(unittest.TestCase):

    def emit(self, *words, **variables):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            program = path_of("KYMO_EMIT_CLIENT")
            completed = subprocess.run(
                [program, *words], capture_output=True, check=True, text=True,
                env={**os.environ, **variables, "NVTX_LOG": str(log),
                     "ITT_LOG": str(log)})
            log = log.with_suffix("." + os.path.basename(program))
            lines = log.read_text().splitlines() if log.exists() else []
            return completed.stdout.strip(), lines

    def test_itt_tasks_have_the_names_alone(self):
        message, log = self.emit(INTEL_LIBITTNOTIFY64=path_of("KYMO_ITT_TOOL"))
        self.assertEqual(message,
                         "ITT annotation context manager is not reentrant")
        self.assertEqual(log, ["domain kymo", "begin kymo outer",
                               "begin kymo inner", "end kymo", "end kymo"])

    def test_nvtx_ranges_have_numbers(self):
        message, log = self.emit(
            "nvtx", NVTX_INJECTION64_PATH=path_of("KYMO_NVTX_TOOL"))
        self.assertEqual(message,
                         "NVTX annotation context manager is not reentrant")
        self.assertEqual(log, ["push outer, op_id = 1",
                               "push inner, seq = 4, op_id = 2", "pop", "pop"])

    def test_without_a_tool_nothing_happens(self):
        self.assertEqual(self.emit("nvtx")[1], [])
        self.assertEqual(self.emit()[1], [])

    def test_the_command_captures_what_is_emitted(self):
        run = Run(path_of("KYMO_EMIT_CLIENT"), activities="cpu,itt")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.counts("itt_task"), {"outer": 1, "inner": 1})
        self.assertEqual(run.counts("cpu_op"), {"outer": 2, "inner": 2})


if __name__ == "__main__":
    unittest.main()
