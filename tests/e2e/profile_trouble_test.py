"""The command in trouble, and what it says then."""

import os
import pathlib
import signal
import subprocess
import unittest

from tests.e2e.profile_cases import (BURN, PROFILE, TARGET, TRAIN_MLP,
                                     ProfileTestCase, load_json)


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
             "cpu, cuda, emit_itt, emit_nvtx, host, itt, memory, mpi, nvtx, "
             "off_cpu, sampling"),
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
                  f"{PROFILE} --activities=cpu --cpu_max_disk=1GiB "
                  f"--output_dir={out} "
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
                         [".kymo-files", "key_averages.txt", "report.html",
                          "summary.json"])
        self.assertIn(b"trace.json", completed.stderr)
        self.assertIn(b"No space left", completed.stderr)
        self.assertRegex(completed.stderr,
                         rb"wrote 3 of [4-9] files into [^\n]*small\n")

    def test_nothing_written_is_a_failure_and_not_said_to_be_written(self):
        out = os.path.join(self.folder.name, "gone")
        completed = subprocess.run(
            [PROFILE, "--activities=cpu", f"--output_dir={out}", "sh", "-c",
             f"rm -r {out}; touch {out}"], capture_output=True, check=False)
        self.assertEqual(completed.returncode, 1, completed.stderr)
        self.assertNotIn(b"wrote", completed.stderr)
        self.assertIn(out, completed.stderr.decode())

    def test_limit_of_file_sizes_is_an_error_and_no_death(self):
        # Its table fits, however many functions there are.
        command, out = self.command(
            BURN, "two", flags=("--activities=cpu,sampling", "--row_limit=10"))
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

    def test_limit_of_address_space_is_an_error_and_no_death(self):
        command, out = self.command(
            BURN, "two", flags=("--activities=cpu,sampling",))
        completed = subprocess.run(
            ["bash", "-c", 'ulimit -v 250000; exec "$@"', "sh", *command],
            capture_output=True, check=False)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertIn(b"try a larger limit of memory (ulimit -v)",
                      completed.stderr)
        self.assertTrue(os.path.exists(os.path.join(out, "summary.json")))

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


if __name__ == "__main__":
    unittest.main()
