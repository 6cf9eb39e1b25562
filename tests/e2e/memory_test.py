"""The command with --profile_memory: what programs allocate, exactly."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

PROFILE = os.path.abspath(os.environ["KYMO_PROFILE"])
ALLOCATE = os.path.abspath(os.environ["KYMO_ALLOCATE"])
OWN_NEW = os.path.abspath(os.environ["KYMO_OWN_NEW"])
OWN_MALLOC = os.path.abspath(os.environ["KYMO_OWN_MALLOC"])
STATIC = os.path.abspath(os.environ["KYMO_STATIC"])
THREADS = os.path.abspath(os.environ["KYMO_THREADS"])
LIBRARIES = {name: os.path.abspath(os.environ[f"KYMO_{name.upper()}_LIBRARY"])
             for name in ("small", "large")}

# The allocators that Debian packages, and their packages. Debian 13 calls one of
# them differently, and has a newer one.
ALLOCATORS = {
    ("libjemalloc.so.2",): "libjemalloc2",
    ("libtcmalloc_minimal.so.4",): "libtcmalloc-minimal4",
    ("libmimalloc.so.3", "libmimalloc.so.2.0"): "libmimalloc3 or libmimalloc2.0",
}
MIB = 1 << 20


class Result:
    """What one run of the command left."""

    def __init__(self, completed, out):
        self.status = completed.returncode
        self.stdout = completed.stdout
        self.stderr = completed.stderr.decode(errors="replace")
        self.out = pathlib.Path(out)
        summary = self.out / "summary.json"
        self.summary = json.loads(summary.read_text()) if summary.exists() else {}

    @property
    def pools(self):
        return self.summary["memory"]["pools"]

    def heap(self, name=None):
        """The heap of the one process, or of the one that has the name."""
        heaps = [pool for pool in self.pools if pool["source"] == "heap"]
        if name is not None:
            names = [process["name"] for process in self.summary["processes"]]
            heaps = [pool for pool in heaps if names[pool["process"]] == name]
        if len(heaps) != 1:
            raise AssertionError(f"{len(heaps)} heaps of {name}: {heaps}")
        return heaps[0]

    def loss(self, name):
        return next(entry["count"] for entry in self.summary["ledger"]
                    if entry["name"] == name)

    @property
    def trace(self):
        return json.loads((self.out / "trace.json").read_text())

    @property
    def table(self):
        return (self.out / "key_averages.txt").read_text(encoding="utf-8")


class MemoryTest(unittest.TestCase):

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.runs = 0

    def profile(self, *target, flags=(), env=None, stdin=None, under=()):
        self.runs += 1
        out = self.directory / f"out{self.runs}"
        completed = subprocess.run(
            [*under, PROFILE, "--activities=cpu", "--profile_memory",
             f"--output_dir={out}", *flags, *target],
            capture_output=True, env=env, stdin=stdin, check=False)
        return Result(completed, out)

    # --- exact numbers ---

    def exact(self, *flags):
        """What 1000 rounds add, as the program counts and as the profile does."""
        printed, counted = [], []
        for rounds in ("0", "1000"):
            result = self.profile(ALLOCATE, "exact", rounds, flags=flags)
            self.assertEqual(result.status, 0, result.stderr)
            printed.append([int(word) for word in result.stdout.split()])
            totals = result.heap()["totals"]
            counted.append([totals["allocations"], totals["frees"],
                            totals["allocated_bytes"]])
            self.assertEqual(result.loss("frees_not_seen"), 0)
            self.assertEqual(result.loss("events_dropped_arena_full"), 0)
        difference = lambda pair: [b - a for a, b in zip(*pair)]
        return difference(printed), difference(counted)

    def test_totals_are_exact(self):
        printed, counted = self.exact()
        self.assertEqual(printed, counted)

    def test_totals_are_exact_without_stacks(self):
        printed, counted = self.exact("--memory_stacks=0")
        self.assertEqual(printed, counted)

    def test_counters_are_exact(self):
        printed, counted = self.exact("--memory_mode=counters")
        self.assertEqual(printed, counted)

    def test_everything_that_is_freed_is_found_freed(self):
        result = self.profile(ALLOCATE, "exact", "1000")
        totals = result.heap()["totals"]
        self.assertEqual(totals["allocated_bytes"] - totals["freed_bytes"],
                         totals["alive_bytes"])
        self.assertEqual(result.heap()["leaks"], [])
        self.assertEqual(result.heap()["runtime_kept"]["bytes"], totals["alive_bytes"])

    def test_samples_estimate_the_totals(self):
        allocations = written = 0
        for _ in range(4):
            result = self.profile(ALLOCATE, "sampled",
                                  flags=("--memory_mode=sampled", "--memory_interval=65536"))
            heap = result.heap()
            self.assertEqual(heap["detail"], "samples")
            allocations += heap["totals"]["allocations"]
            written += heap["totals"]["allocated_bytes"]
        expected = [4 * int(word) for word in result.stdout.split()]
        # Of the smallest blocks some 400 are sampled: 5 standard deviations.
        self.assertAlmostEqual(allocations / expected[0], 1, delta=0.1)
        self.assertAlmostEqual(written / expected[1], 1, delta=0.01)

    # --- operations ---

    def test_operations_are_charged_as_pytorch_does(self):
        result = self.profile(ALLOCATE, "operations")
        rows = dict(re.findall(r"^ +(A|B) .* (-?\d+) B  +\d+  $", result.table, re.M))
        self.assertEqual(rows, {"A": "-100", "B": "150"})
        events = [event for event in result.trace["traceEvents"]
                  if event["name"] == "[memory]"]
        own = [event["args"]["Bytes"] for event in events
               if abs(event["args"]["Bytes"]) in (50, 100)]
        self.assertEqual(own, [100, 50, -100, -50])

    def test_growth_per_step(self):
        steps = self.profile(ALLOCATE, "steps").heap()["steps"]
        self.assertEqual([step["number"] for step in steps], [0, 1, 2, 3, 4])
        for step in steps:
            self.assertEqual(step["live_end_bytes"] - step["live_begin_bytes"], 1000)
            self.assertEqual(step["allocated_bytes"], 71_000)

    # --- leaks ---

    def test_planted_leaks_are_found_with_file_and_line(self):
        source = pathlib.Path("tests/e2e/allocate.cc").read_text().splitlines()
        line = {which: next(number for number, text in enumerate(source, 1)
                            if f"the {which} planted leak" in text)
                for which in ("first", "second")}
        leaks = self.profile(ALLOCATE, "leak").heap()["leaks"]
        self.assertEqual([(leak["count"], leak["bytes"]) for leak in leaks],
                         [(3, 15_000), (1, 1234)])
        for leak, which, function in ((leaks[0], "second", "LeakInSecond"),
                                      (leaks[1], "first", "LeakInFirst")):
            self.assertRegex(leak["stack"][0], function)
            self.assertIn(f"allocate.cc({line[which]})", leak["stack"][0])

    def test_libraries_that_were_loaded_at_one_place_are_apart(self):
        result = self.profile(ALLOCATE, "turns", LIBRARIES["small"],
                              LIBRARIES["large"])
        self.assertEqual(result.status, 0, result.stderr)
        leaks = result.heap()["leaks"]
        for name, count, size in (("small", 5, 15_000), ("large", 5, 5_000)):
            of_library = [leak for leak in leaks
                          if any(f"test_library_{name}" in frame
                                 for frame in leak["stack"])]
            self.assertEqual([(leak["count"], leak["bytes"])
                              for leak in of_library], [(count, size)], leaks)

    def test_a_clean_program_leaks_nothing(self):
        result = self.profile(ALLOCATE, "clean")
        self.assertEqual(result.heap()["leaks"], [])
        self.assertIn("Nothing leaked", result.table)

    # --- programs that nobody touched ---

    def check_plausible(self, heap, least_allocations):
        totals = heap["totals"]
        self.assertGreater(totals["allocations"], least_allocations)
        self.assertGreaterEqual(totals["allocations"], totals["frees"])
        self.assertGreaterEqual(heap["peak"]["bytes"], totals["alive_bytes"])

    def test_python(self):
        result = self.profile("/usr/bin/python3", "-c",
                              "x = [bytearray(1000) for i in range(5000)]; print(len(x))")
        self.assertEqual(result.stdout, b"5000\n")
        heap = result.heap()
        self.check_plausible(heap, 5000)
        self.assertGreater(heap["peak"]["bytes"], 5_000_000)

    def over_other_allocators(self):
        """The name of each, and the environment that preloads it."""
        folder = pathlib.Path("/usr/lib/x86_64-linux-gnu")
        for libraries, package in ALLOCATORS.items():
            with self.subTest(package):
                found = [name for name in libraries if (folder / name).exists()]
                self.assertTrue(found, f"{package} is not installed")
                yield found[0], dict(os.environ, LD_PRELOAD=str(folder / found[0]))

    def test_python_over_other_allocators(self):
        for library, env in self.over_other_allocators():
            with self.subTest(library):
                result = self.profile(
                    "/usr/bin/python3", "-c", "x = [bytearray(1000) for i in range(5000)]; "
                    "print(open('/proc/self/maps').read())", env=env)
                self.assertEqual(result.status, 0, result.stderr)
                self.assertIn(library.encode(), result.stdout)
                heap = result.heap()
                self.check_plausible(heap, 5000)
                self.assertGreater(heap["peak"]["bytes"], 5_000_000)

    def test_xz_and_git(self):
        text = self.directory / "text"
        text.write_bytes(os.urandom(2 * MIB))
        result = self.profile("xz", "-1", "--keep", "--stdout", text)
        self.assertEqual(result.status, 0, result.stderr)
        self.check_plausible(result.heap(), 20)
        packed = subprocess.run(["xz", "--decompress"], input=result.stdout,
                                capture_output=True, check=True).stdout
        self.assertEqual(packed, text.read_bytes())
        result = self.profile("git", "help", "--all")
        self.assertEqual(result.status, 0, result.stderr)
        self.check_plausible(result.heap("git"), 200)

    def test_a_compiler(self):
        source = self.directory / "small.c"
        source.write_text("#include <stdio.h>\nint main() { return puts(\"x\") < 0; }\n")
        compiler = shutil.which("gcc") or shutil.which("clang")
        result = self.profile(compiler, "-O2", "-o", self.directory / "small", source)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertGreater(len([pool for pool in result.pools if pool["source"] == "heap"]), 2)
        self.assertEqual(subprocess.run([self.directory / "small"], check=True,
                                        capture_output=True).stdout, b"x\n")

    def test_heaptrack_counts_the_same(self):
        # heaptrack brings the C++ library along, which takes 72 KB at its start:
        # so a program that has it itself, and one that takes 30 MB.
        for target in (["protoc", f"--cpp_out={self.directory}", "-I/usr/include",
                        "/usr/include/google/protobuf/descriptor.proto"],
                       ["/usr/bin/python3", "-S", "-c",
                        "x = [bytearray(900 + i % 200) for i in range(30000)]; print(len(x))"]):
            with self.subTest(target[0]):
                heap = self.profile(*target).heap()
                data = self.directory / "heaptrack"
                subprocess.run(["heaptrack", "-o", data, *target],
                               capture_output=True, check=True)
                file = next(self.directory.glob("heaptrack*"))
                text_form = subprocess.run(["heaptrack_print", "-f", file], check=True,
                                           capture_output=True, text=True).stdout
                file.unlink()
                calls = int(re.search(r"calls to allocation functions: (\d+)", text_form)[1])
                peak = re.search(r"peak heap memory consumption: ([\d.]+)([BKMG])", text_form)
                peak_bytes = float(peak[1]) * 1000 ** "BKMG".index(peak[2])
                self.assertAlmostEqual(heap["totals"]["allocations"] / calls, 1, delta=0.01)
                self.assertAlmostEqual(heap["peak"]["bytes"] / peak_bytes, 1, delta=0.01)

    # --- trouble ---

    def test_a_program_that_replaces_two_of_the_operators(self):
        for mode in ("all", "sampled", "counters"):
            result = self.profile(OWN_NEW, flags=(f"--memory_mode={mode}",))
            self.assertEqual(result.status, 0, result.stderr)
            self.assertEqual(result.stdout, b"fine\n")
            if mode != "sampled":
                self.assertGreater(result.heap()["totals"]["allocations"], 6)

    def test_failed_allocations_do_not_stop_the_sampling(self):
        result = self.profile(ALLOCATE, "sampled", "fail",
                              flags=("--memory_mode=sampled", "--memory_interval=65536"))
        self.assertEqual(result.status, 0, result.stderr)
        totals = result.heap()["totals"]
        expected = int(result.stdout.split()[1])
        self.assertAlmostEqual(totals["allocated_bytes"] / expected, 1, delta=0.02)
        names = [event["name"] for event in result.trace["traceEvents"]]
        self.assertEqual(names.count("[OutOfMemory]"), 12)

    def test_a_small_stack_in_a_forked_child(self):
        result = self.profile(ALLOCATE, "fiber")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.stdout, b"fine\n")

    def test_libc_starts_with_the_programs_arguments(self):
        # Whatever the hooks do before libc is ready. This program takes malloc's address.
        result = self.profile(
            "/usr/bin/python3", "-c",
            "import ctypes\n"
            "name = 'program_invocation_short_name'\n"
            "print(ctypes.c_char_p.in_dll(ctypes.CDLL(None), name).value.decode())")
        self.assertEqual(result.stdout, b"python3\n")
        self.assertEqual(result.loss("heaps_not_watched"), 0)

    def test_an_exec_begins_a_new_heap(self):
        # Without address randomisation both programs' blocks stand at the same
        # addresses; where that may not be switched off, some still do.
        under = ("setarch", "-R")
        if subprocess.run([*under, "true"], capture_output=True, check=False).returncode:
            under = ()
        result = self.profile("bash", "-c", "exec bash -c :", under=under)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.loss("frees_not_seen"), 0)
        # Nothing of the first program is alive, at the peak of the second one
        # or at the end.
        heap = result.heap()
        self.assertLessEqual(heap["totals"]["alive_bytes"], heap["peak"]["bytes"])
        at_peak = [stack["bytes"] for stack in heap["peak"]["by_stack"]]
        self.assertGreaterEqual(min(at_peak), 0)
        self.assertEqual(sum(at_peak), heap["peak"]["bytes"])

    def test_a_malloc_of_ones_own_is_said_and_counted(self):
        result = self.profile(OWN_MALLOC, flags=("--strict",))
        self.assertEqual(result.stdout, b"allocated by my own malloc\n")
        self.assertIn("brings a malloc of its own", result.stderr.splitlines()[0])
        self.assertEqual(result.status, 3)
        self.assertEqual(result.loss("heaps_not_watched"), 1)
        self.assertIn("Lost: 1 heaps_not_watched", result.stderr)
        self.assertIn("kymo: --strict: status 3", result.stderr)

    def test_a_static_program_is_said(self):
        result = self.profile(STATIC, "0.01")
        self.assertIn("statically linked", result.stderr.splitlines()[0])

    def test_programs_with_sanitizers_run_and_find_their_own_bugs(self):
        for sanitizer in ("ADDRESS", "THREAD"):
            program = os.path.abspath(os.environ[f"KYMO_SANITIZED_{sanitizer}"])
            # In a child, as a build or a test runner starts it.
            result = self.profile("sh", "-c", f"{program}; exit $?")
            self.assertEqual(result.status, 0, result.stderr)
            self.assertEqual(result.stdout, b"done\n")
            self.assertNotRegex(result.stderr, r"(ERROR|WARNING): \w+Sanitizer")
        result = self.profile(os.path.abspath(os.environ["KYMO_SANITIZED_ADDRESS"]), "bug")
        self.assertIn("heap-buffer-overflow", result.stderr)

    def test_threads_that_free_at_their_very_end(self):
        # 6,000 chunks out of 4,096. A stalled machine may give them back too late.
        for _ in range(3):
            result = self.profile(THREADS, "6000")
            self.assertEqual((result.status, result.loss("frees_not_seen")), (0, 0))
            if result.loss("events_dropped_arena_full") == 0:
                return
        self.fail("chunks of threads that are gone are not used again")

    def test_out_of_memory_is_recorded(self):
        result = self.profile("/usr/bin/python3", "-c",
                              "try:\n  bytearray(1 << 50)\nexcept MemoryError:\n  print('no')")
        self.assertEqual(result.stdout, b"no\n")
        names = [event["name"] for event in result.trace["traceEvents"]]
        self.assertIn("[OutOfMemory]", names)
        self.assertEqual([pool["source"] for pool in result.pools], ["heap"])
        self.assertEqual(result.heap()["totals"]["out_of_memory"], 1)
        self.assertIn("  Out of memory                1\n", result.table)
        self.assertNotIn("as reported", result.stderr + result.table)

    def test_each_failure_of_operator_new_is_counted_once(self):
        for library, env in [("libc", None), *self.over_other_allocators()]:
            ends = library.startswith("libmimalloc")  # where it should throw
            # Nobody sees the aligned form of tcmalloc fail.
            counted = 3 if ends or library.startswith("libtcmalloc") else 4
            with self.subTest(library):
                result = self.profile(ALLOCATE, "fail", env=env)
                self.assertEqual(result.stdout, b"" if ends else b"4\n", result.stderr)
                self.assertEqual(result.heap()["totals"]["out_of_memory"], counted)

    def test_a_wrong_setting_is_refused(self):
        for flag, word in (("--memory_mode=some", "counters"),
                           ("--memory_interval=0", "whole number"),
                           ("--memory_stacks=2", "0 or 1")):
            result = self.profile("true", flags=(flag,))
            self.assertEqual(result.status, 2)
            self.assertIn(word, result.stderr)

    # --- files ---

    def test_files(self):
        result = self.profile(ALLOCATE, "leak")
        folded = (result.out / "stacks.memory.alive.folded").read_text()
        alive = {line.rsplit(" ", 1)[0].rsplit(";", 1)[1].rsplit("::", 1)[-1]:
                 int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()}
        self.assertEqual(alive["LeakInFirst()"], 1234)
        self.assertEqual(alive["LeakInSecond()"], 15_000)
        self.assertNotIn("malloc", folded)
        page = (result.out / "memory_timeline.html").read_text()
        self.assertNotRegex(page, r"(src|href)=.?https?:")
        counters = [event for event in result.trace["traceEvents"]
                    if event.get("ph") == "C" and event["name"] == "Memory: heap"]
        self.assertEqual(counters[-1]["args"]["bytes"], sum(alive.values()))


if __name__ == "__main__":
    unittest.main()
