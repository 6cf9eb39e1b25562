"""The command as a guest: what the target and the terminal notice of it."""

import os
import pathlib
import pty
import re
import shlex
import signal
import subprocess
import sys
import termios
import time
import unittest

from tests.e2e.profile_cases import (KEEP_RAW, PROFILE, TARGET, TRAIN_MLP,
                                     ProfileTestCase, Result)


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

    def test_daemon_is_named_although_its_parent_forks_late(self):
        number = pathlib.Path(self.folder.name, "pid")
        # The command keeps its target a zombie until the recording's end, so
        # a daemon that begins when it sees one begins between the two.
        script = (
            '(while read -r _ _ state _ </proc/$$/stat && [ "$state" != Z ];'
            " do :; done;"
            f" sleep 60 >/dev/null 2>&1 & echo $! >{number}) &")
        recorded = 0
        for _ in range(20):
            if recorded > 2:
                break
            number.write_text("", encoding="utf-8")
            result = self.profile("sh", "-c", script,
                                  flags=("--activities=off_cpu",))
            deadline = time.monotonic() + 30
            while not number.read_text(encoding="utf-8"):
                self.assertLess(time.monotonic(), deadline, result.stderr)
                time.sleep(0.01)
            daemon = int(number.read_text(encoding="utf-8"))
            os.kill(daemon, signal.SIGKILL)
            if "perf_event_open" in result.stderr:
                self.skipTest(f"NOT TESTED HERE: {result.stderr}")
            if daemon in {t["pid"] for t in result.summary["threads"]}:
                recorded += 1
                self.assertIn(f"({daemon}) still runs", result.stderr)
        self.assertGreater(recorded, 0)

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
                self.assertIn("report.html in a browser", seen)
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


if __name__ == "__main__":
    unittest.main()
