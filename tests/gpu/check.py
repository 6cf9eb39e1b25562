#!/usr/bin/env python3
"""Records CUDA programs on a device, and checks what was recorded.

  check.py PROFILE WORK TWO_SESSIONS [--keep=FOLDER]

PROFILE is the command, WORK the program of work.cu, TWO_SESSIONS that of
two_sessions.cc. Exit 77: there is no device, or its driver is too old for the
toolkit that built WORK. Prints a line for each check, and at the end what was
measured: for docs/gpu.md.
"""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")


class Trace:
    """What a recording wrote into a folder."""

    def __init__(self, folder, said):
        self.out = folder
        self.said = said
        self.trace = self._load("traceEvents")
        self.summary = self._load("anything_lost")
        self.events = [e for e in self.trace["traceEvents"]
                       if e.get("ph") == "X"]

    def _load(self, member):
        for path in sorted(glob.glob(os.path.join(self.out, "*.json"))):
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            if member in data:
                return data
        raise AssertionError(f"no file with {member} in {self.out}")

    def of(self, *categories):
        return [e for e in self.events if e.get("cat") in categories]

    def kernels(self, name):
        return [e for e in self.of("kernel")
                if e["name"].startswith(f"{name}(") or e["name"] == name
                or f"::{name}(" in e["name"]]

    def lost(self):
        return {e["name"]: e["count"] for e in self.summary.get("ledger", [])
                if e.get("is_loss") and e.get("count")}


class Run(Trace):
    """One mode of the program under the command."""

    def __init__(self, profile, work, folder, mode, flags=()):
        out = os.path.join(folder, mode + "".join(flags).replace("/", "_"))
        result = subprocess.run(
            [profile, "--activities=cpu,cuda", "--export=chrome,summary",
             f"--output_dir={out}", *flags, work, mode],
            capture_output=True, text=True, timeout=300, check=False)
        self.status = result.returncode
        self.errors = result.stderr
        lines = [l for l in result.stdout.splitlines() if l.startswith("{")]
        if not lines:
            raise AssertionError(f"{mode}: no result\n{result.stderr}")
        super().__init__(out, json.loads(lines[-1]))


class Checks:
    def __init__(self, make_run, plain, two_sessions):
        self.run = make_run
        self.plain = plain
        self.two_sessions = two_sessions
        self.measured = {}
        self.failures = 0

    def check(self, what, passed, detail=""):
        print(("ok    " if passed else "FAIL  ") + what +
              ("" if passed or detail == "" else f": {detail}"))
        self.failures += not passed

    def common(self, mode, run):
        """What holds for every trace of a program that ended."""
        launches = {}
        for call in run.of("cuda_runtime", "cuda_driver"):
            known = launches.setdefault(call["args"]["correlation"], call)
            if call["ts"] < known["ts"]:
                launches[call["args"]["correlation"]] = call
        # Pages move without a call.
        work = [e for e in run.of(*DEVICE_WORK)
                if not e["name"].startswith("Unified Memory")]
        lone = [e["name"] for e in work
                if e["args"].get("correlation") not in launches]
        self.check(f"{mode}: everything has its launch", not lone, lone[:3])
        early = [e["name"] for e in work
                 if e["args"].get("correlation") in launches and
                 e["ts"] < launches[e["args"]["correlation"]]["ts"]]
        self.check(f"{mode}: nothing begins before its launch", not early,
                   early[:3])
        for name, count in run.said.get("kernels", {}).items():
            found = len(run.kernels(name))
            self.check(f"{mode}: {count} kernels {name}", found == count,
                       f"{found} in the trace")
        self.check(f"{mode}: nothing was lost", not run.lost(), run.lost())
        devices = run.trace.get("deviceProperties", [])
        self.check(f"{mode}: the device is described",
                   bool(devices) and devices[0]["numSms"] > 0 and
                   devices[0]["name"], devices)
        refused = run.trace.get("cuda_not_recorded", [])
        self.check(f"{mode}: nothing was refused", not refused, refused)

    def streams(self):
        run = self.run("streams")
        self.common("streams", run)
        used = {e["tid"] for e in run.kernels("Spin")}
        self.check("streams: on 4 streams", len(used) == 4, used)
        late = self.run("streams", ("--cuda_latency=1",))
        unordered = [e["args"] for e in late.kernels("Spin")
                     if not e["args"]["queued"] or
                     e["args"].get("time in queue (us)", -1) < 0]
        self.check("streams: kernels say when they were queued",
                   not unordered, unordered[:1])
        self.measured["clock"] = {
            name: run.trace.get(name) for name in (
                "cuda_clock_error_ns", "cuda_early_ns", "cuda_late_ns",
                "cupti_version")}

    def copies(self):
        run = self.run("copies")
        self.common("copies", run)
        for kind, wanted in run.said["bytes"].items():
            found = sum(e["args"]["bytes"] for e in run.of(*DEVICE_WORK)
                        if e["name"].startswith(kind))
            self.check(f"copies: bytes of {kind}", found == wanted,
                       f"{found}, not {wanted}")
        waits = [e for e in run.of("cuda_sync") if e["name"] == "Stream Sync"]
        self.check("copies: the wait for the stream is there",
                   len(waits) >= run.said["stream_waits"], len(waits))

    def graph(self):
        run = self.run("graph")
        self.common("graph", run)
        nodes = [e for e in run.kernels("Spin") if "graph id" in e["args"]]
        self.check("graph: kernels name their graph", len(nodes) == 50,
                   len(nodes))
        whole = self.run("graph", ("--cuda_graphs=whole",))
        graphs = [e for e in whole.of("kernel") if e["name"] == "CUDA Graph"]
        self.check("graph: as a whole", len(graphs) == 10, len(graphs))

    def threads(self):
        run = self.run("threads")
        self.common("threads", run)
        callers = {e["tid"] for e in run.of("cuda_runtime")
                   if e["name"].startswith("cudaLaunchKernel")}
        self.check("threads: launched by 4", len(callers) == 4, callers)

    def unified(self):
        run = self.run("unified", ("--cuda_unified=1",))
        self.common("unified", run)
        moved = sum(e["args"]["bytes"] for e in run.of("gpu_memcpy")
                    if e["name"] == "Unified Memory HtoD")
        # Newer systems move pages by other means than faults; say, not fail.
        self.measured["unified memory moved"] = (
            f"{moved} of {run.said['touched_bytes']} bytes")

    def events(self):
        run = self.run("events")
        self.common("events", run)
        kernels = sorted(run.kernels("Spin"), key=lambda e: e["ts"])[1:]
        recorded = sorted(run.of("cuda_event"), key=lambda e: e["ts"])
        self.check("events: both of each pair are there",
                   len(recorded) == 2 * len(run.said["spin_us"]),
                   len(recorded))
        # Those behind a kernel stand behind it, not where they were called.
        before_end = [k["name"] for k, e in zip(kernels, recorded[1::2])
                      if e["ts"] + 1 < k["ts"] + k["dur"]]
        self.check("events: with times of the device", not before_end,
                   before_end)
        worst = 0
        for kernel, wanted in zip(kernels, run.said["spin_us"]):
            off = abs(kernel["dur"] - wanted)
            worst = max(worst, off / wanted)
            self.check(f"events: a kernel of {wanted:.1f} us",
                       off <= max(2, 0.05 * wanted), f"{kernel['dur']} us")
        self.measured["kernel times against CUDA events"] = (
            f"at most {100 * worst:.2f} % off")

    def matmul(self):
        run = self.run("matmul")
        self.common("matmul", run)
        for kernel in run.kernels("MatMul"):
            args = kernel["args"]
            self.check("matmul: grid, block and shared memory",
                       args["grid"] == run.said["grid"] and
                       args["block"] == run.said["block"] and
                       args["shared memory"] == 2048 and
                       args["static shared memory"] == 2048 and
                       args["registers per thread"] > 0, args)
            break
        best = min((e["dur"] for e in run.kernels("MatMul")), default=0)
        if best:
            self.measured["matrix product"] = (
                f"{run.said['flops'] / best / 1e3:.1f} GFLOP/s")

    def memory(self):
        run = self.run("memory", ("--profile_memory", "--memory_mode=reports"))
        reports = [e for e in run.trace["traceEvents"]
                   if e.get("name") == "[memory]" and
                   e["args"].get("Device Type") == 1]
        allocated = sum(e["args"]["Bytes"] for e in reports
                        if e["args"]["Bytes"] > 0)
        left = sum(e["args"]["Bytes"] for e in reports)
        self.check("memory: bytes allocated",
                   allocated == run.said["allocated_bytes"], allocated)
        self.check("memory: bytes left", left == run.said["left_bytes"], left)

    def pool(self):
        run = self.run("pool", ("--profile_memory", "--memory_mode=reports"))
        reports = [e["args"]["Bytes"] for e in run.trace["traceEvents"]
                   if e.get("name") == "[memory]" and
                   e["args"].get("Device Type") == 1]
        allocated = sum(b for b in reports if b > 0)
        self.check("pool: bytes allocated",
                   allocated == run.said["allocated_bytes"], allocated)
        self.check("pool: everything is freed", sum(reports) == 0, reports)
        curve = [e for e in run.trace["traceEvents"] if e.get("ph") == "C" and
                 e["name"].startswith("CUDA pools")]
        self.check("pool: has a counter", bool(curve))

    def markers(self):
        run = self.run("markers", ("--cuda_markers=1", "--nvtx_capture=0"))
        self.common("markers", run)
        ranges = {e["name"] for e in run.of("nvtx_range")}
        self.check("markers: ranges", ranges >= {"step", "across"}, ranges)
        step = [e for e in run.of("nvtx_range") if e["name"] == "step"]
        launches = [e for e in run.of("cuda_runtime")
                    if e["name"].startswith("cudaLaunchKernel")]
        self.check("markers: on the same clock as calls",
                   step and launches and
                   step[0]["ts"] <= launches[0]["ts"] <=
                   step[0]["ts"] + step[0]["dur"])

    def library(self):
        for part, trace in enumerate(self.two_sessions(), 1):
            mode = f"library, session {part}"
            self.common(mode, trace)
            named = {e["args"].get("External id") for e in trace.of("cpu_op")
                     if e["name"] == "spin_op"}
            lone = [e for e in trace.kernels("spin")
                    if e["args"].get("External id") not in named]
            self.check(f"{mode}: kernels have their operation", not lone,
                       len(lone))

    def small(self):
        run = self.run("small")
        self.common("small", run)
        plain = min(self.plain("small")["seconds"] for _ in range(3))
        traced = run.said["seconds"]
        self.measured["100,000 small kernels"] = (
            f"{plain:.3f} s alone, {traced:.3f} s recorded: "
            f"{(traced - plain) * 10:.2f} us a kernel more")

    def killed(self):
        run = self.run("killed")
        self.check("killed: ends as the program did",
                   run.status in (-signal.SIGKILL, 128 + signal.SIGKILL),
                   run.status)
        found = len(run.kernels("Empty"))
        self.check("killed: what was flushed is there", found == 100, found)

    def busy(self):
        run = self.run("busy")
        found = len(run.kernels("Spin"))
        self.check("busy: killed while it launched, it has most of its kernels",
                   found > run.said["launched"] / 2,
                   f"{found} of {run.said['launched']}")
        self.measured["killed while launching"] = (
            f"{found} of {run.said['launched']} kernels; the ledger: "
            f"{run.lost()}")


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    keep = [a.split("=", 1)[1] for a in sys.argv[1:]
            if a.startswith("--keep=")]
    if len(arguments) != 3:
        sys.exit(__doc__)
    profile, work, library = (os.path.abspath(a) for a in arguments)

    def plain(mode):
        result = subprocess.run([work, mode], capture_output=True, text=True,
                                timeout=300, check=False)
        if result.returncode == 77:
            print(f"SKIPPED: {result.stderr.strip()}", file=sys.stderr)
            sys.exit(77)
        return json.loads(result.stdout.splitlines()[-1])

    def two_sessions(folder):
        result = subprocess.run([library, folder], capture_output=True,
                                text=True, timeout=300, check=False)
        if result.returncode != 0:
            raise AssertionError(f"library: {result.stderr}")
        said = json.loads(result.stdout.splitlines()[-1])
        return [Trace(os.path.join(folder, part), said)
                for part in ("1", "2")]

    plain("matmul")
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep[0] if keep else scratch
        checks = Checks(
            lambda mode, flags=(): Run(profile, work, folder, mode, flags),
            plain, lambda: two_sessions(os.path.join(folder, "library")))
        for mode in ("streams", "copies", "graph", "threads", "unified",
                     "events", "matmul", "memory", "pool", "markers",
                     "library", "small", "killed", "busy"):
            try:
                getattr(checks, mode)()
            except (AssertionError, LookupError, ValueError, OSError,
                    subprocess.SubprocessError) as e:
                checks.check(mode, False, repr(e))
        for what, value in checks.measured.items():
            print(f"{what}: {value}")
        print("all passed" if checks.failures == 0
              else f"{checks.failures} checks failed")
        return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
