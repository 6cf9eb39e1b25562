"""From CUPTI's buffers to files, without a device.

A libcupti of ours plays a device (backends/cupti/test_libcupti.cc). A program
that launches on it is recorded by the command, and by itself; both must show
what it did: in the table, in the Chrome trace, and for TensorBoard.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

KERNEL = "matmul(float const*, float const*, float*)"
COPY = "Memcpy HtoD (Pinned -> Device)"
# Three steps of a copy and two kernels, and one of another thread.
KERNELS, COPIES = 7, 3
KERNEL_US = 2


def path_of(variable):
    return os.path.abspath(os.environ[variable])


def play_a_device(folder):
    """Makes the libraries of a driver and of CUDA; where programs find them."""
    for part in ("driver", "cuda/lib64"):
        (folder / part).mkdir(parents=True)
    shutil.copy(path_of("KYMO_FAKE_LIBCUDA"), folder / "driver/libcuda.so.1")
    shutil.copy(path_of("KYMO_FAKE_CUPTI"),
                folder / "cuda/lib64/libcupti.so.13")
    return {**os.environ,
            "CUDA_HOME": str(folder / "cuda"),
            "LD_LIBRARY_PATH": str(folder / "driver")}


class FakeDeviceTest:
    """What holds however the program was recorded; `record` does that."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        environment = play_a_device(cls.folder)
        for part in ("saved", "out"):
            (cls.folder / part).mkdir()
        cls.out = cls.folder / "out"
        cls.saved = cls.folder / "saved"
        completed = subprocess.run(
            cls.words(), capture_output=True, text=True, check=False,
            env=environment)
        if completed.returncode != 0:
            raise AssertionError(completed.stderr)
        trace = json.loads((cls.out / "trace.json").read_text())
        cls.properties = trace["deviceProperties"]
        cls.events = trace["traceEvents"]
        cls.summary = json.loads((cls.out / "summary.json").read_text())

    def of(self, category):
        return [event for event in self.events
                if event.get("cat") == category and event["ph"] == "X"]

    def around(self, event, category):
        """Names of that category around the event on its thread."""
        return [e["name"] for e in self.of(category)
                if (e["pid"], e["tid"]) == (event["pid"], event["tid"]) and
                e["ts"] <= event["ts"] and
                event["ts"] + event["dur"] <= e["ts"] + e["dur"]]

    def test_the_device_has_done_what_was_launched(self):
        kernels, copies = self.of("kernel"), self.of("gpu_memcpy")
        self.assertEqual([e["name"] for e in kernels], [KERNEL] * KERNELS)
        self.assertEqual([e["name"] for e in copies], [COPY] * COPIES)
        self.assertEqual({(e["pid"], e["tid"]) for e in kernels + copies},
                         {(0, 7)})
        self.assertEqual({e["dur"] for e in kernels}, {KERNEL_US})
        args = kernels[0]["args"]
        self.assertEqual((args["grid"], args["block"]),
                         ([4, 1, 1], [128, 1, 1]))
        self.assertEqual(args["registers per thread"], 32)
        self.assertIn("est. achieved occupancy %", args)
        self.assertEqual(copies[0]["args"]["bytes"], 4096)

    def test_every_activity_has_its_call_and_every_call_its_operation(self):
        calls = {e["args"]["correlation"]: e for e in self.of("cuda_runtime")}
        for event in self.of("kernel") + self.of("gpu_memcpy"):
            call = calls[event["args"]["correlation"]]
            is_kernel = event["name"] == KERNEL
            self.assertEqual(call["name"], "cudaLaunchKernel" if is_kernel
                             else "cudaMemcpyAsync")
            self.assertLess(call["ts"], event["ts"])
            expected = "aten::mm" if is_kernel else "aten::copy_"
            self.assertIn(expected, self.around(call, "cpu_op"))
            self.assertEqual(call["args"]["External id"],
                             event["args"]["External id"])

    def test_flows_lead_from_calls_to_the_device(self):
        flows = collections.defaultdict(dict)
        for event in self.events:
            if event.get("cat") == "ac2g":
                flows[event["id"]][event["ph"]] = event
        self.assertEqual(len(flows), KERNELS + COPIES)
        for flow in flows.values():
            self.assertEqual(set(flow), {"s", "f"})
            self.assertEqual((flow["f"]["pid"], flow["f"]["tid"]), (0, 7))

    def test_annotations_are_projected_onto_the_stream(self):
        projected = self.of("gpu_user_annotation")
        self.assertEqual([e["name"] for e in projected], ["step"] * 3)
        for event in projected:
            self.assertEqual((event["pid"], event["tid"]), (0, 7))
            inside = [e for e in self.of("kernel") + self.of("gpu_memcpy")
                      if event["ts"] <= e["ts"] and
                      e["ts"] + e["dur"] <= event["ts"] + event["dur"]]
            self.assertEqual(len(inside), 3)

    def test_the_table_has_the_times_of_the_device(self):
        lines = (self.out / "key_averages.txt").read_text().splitlines()
        titles = re.split(r"\s{2,}", lines[1].strip())
        rows = {}
        for line in lines[3:]:
            cells = re.split(r"\s{2,}", line.strip())
            if len(cells) == len(titles):
                rows.setdefault(cells[0], dict(zip(titles, cells)))

        def times(name):
            return rows[name]["Self CUDA"], rows[name]["CUDA total"]

        self.assertEqual(times("aten::mm"), ("14.000us", "14.000us"))
        # The kernel of the other thread is in no aten::linear.
        self.assertEqual(times("aten::linear"), ("0.000us", "12.000us"))
        self.assertEqual(times("aten::copy_"), ("3.000us", "3.000us"))
        self.assertEqual(times(KERNEL), ("14.000us", "14.000us"))

    def test_the_device_is_described(self):
        self.assertEqual(len(self.properties), 1)
        self.assertEqual(self.properties[0]["name"], "Scripted GPU")
        self.assertEqual(self.properties[0]["numSms"], 4)

    def test_tensorboard_has_the_devices_plane(self):
        spaces = list(self.out.rglob("*.xplane.pb"))
        self.assertEqual(len(spaces), 1)
        space = spaces[0].read_bytes()
        for text in (b"/device:GPU:0", KERNEL.encode(), b"occ_pct:",
                     b"num_bytes:4096"):
            self.assertIn(text, space)

    def test_what_cupti_said_was_kept(self):
        logs = list(self.saved.iterdir())
        self.assertEqual(len(logs), 1)
        self.assertIn(b"_Z6matmul", logs[0].read_bytes())

    def test_nothing_was_lost(self):
        self.assertFalse([entry for entry in self.summary["ledger"]
                          if entry["count"]])


class CommandTest(FakeDeviceTest, unittest.TestCase):

    @classmethod
    def words(cls):
        return [path_of("KYMO_PROFILE"), "--activities=cpu,cuda",
                "--cuda_device_check=0", f"--cuda_save={cls.saved}",
                "--export=chrome,summary,tensorboard",
                f"--output_dir={cls.out}", path_of("KYMO_FAKE_PROGRAM"),
                "guest"]


class LibraryTest(FakeDeviceTest, unittest.TestCase):

    @classmethod
    def words(cls):
        return [path_of("KYMO_FAKE_PROGRAM"), "host", str(cls.out),
                str(cls.saved)]


class MarkersTest(unittest.TestCase):
    """Who hears a program's NVTX where CUPTI is to."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.environment = play_a_device(self.folder)

    def record(self, *flags):
        """Of a program that prints its environment."""
        return subprocess.run(
            [path_of("KYMO_PROFILE"), "--activities=cpu,cuda",
             "--cuda_device_check=0", "--cuda_markers=1", *flags,
             f"--output_dir={self.folder}/out", "/usr/bin/env"],
            capture_output=True, text=True, check=False, env=self.environment)

    def test_it_is_led_to_the_libcupti_that_records(self):
        completed = self.record("--nvtx_capture=0")
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertIn(f"NVTX_INJECTION64_PATH={self.folder}/cuda/lib64/"
                      "libcupti.so.13", completed.stdout.splitlines())

    def test_both_at_once_are_refused_with_what_to_do(self):
        completed = self.record()
        self.assertIn("add --nvtx_capture=0", completed.stderr)
        self.assertNotIn("libcupti.so.13", completed.stdout)


if __name__ == "__main__":
    unittest.main()
