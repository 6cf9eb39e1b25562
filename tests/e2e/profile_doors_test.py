"""Programs that run already, with Kymo in them: doors, and on demand."""

import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from tests.e2e.profile_cases import TARGET, ProfileTestCase

THIS_NAME = pathlib.Path("/proc/self/comm").read_text().strip()


def play_pytorch(sockets, operation="aten::add"):
    """Asks until there is a configuration, and writes a trace.

    Gives up after a minute: then the command has ended without asking for one.
    """
    end = time.monotonic() + 60
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.bind(f"{sockets}/dynoconfigclient-test")
        client.settimeout(1)
        body = struct.pack("=iiqi", 2, 1, 0, os.getpid())
        config = b""
        while not config and time.monotonic() < end:
            try:
                client.sendto(
                    struct.pack("=Q32s", len(body), b"req") + body,
                    f"{sockets}/dynolog")
                config = client.recv(65536)[40:]
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.01)
        if not config:
            return
    settings = dict(line.split("=", 1) for line in config.decode().split())
    assert settings["ACTIVITIES_DURATION_MSECS"] == "300", settings
    path = settings["ACTIVITIES_LOG_FILE"].replace(
        ".json", f"_{os.getpid()}.json")
    now_us = time.time_ns() // 1000
    events = [
        {"ph": "M", "name": "process_name", "pid": os.getpid(), "tid": 0,
         "ts": now_us, "args": {"name": THIS_NAME}}]
    if operation:
        events.append(
            {"ph": "X", "cat": "cpu_op", "name": operation, "pid": os.getpid(),
             "tid": 1, "ts": now_us, "dur": 5})
    with open(path, "w", encoding="utf-8") as trace:
        json.dump({"traceEvents": events}, trace)


class DoorTest(ProfileTestCase):
    """A program that runs already, with Kymo in it."""

    def start(self, **variables):
        server = subprocess.Popen(
            [TARGET, "serve"], stdout=subprocess.PIPE,
            env={**os.environ, **variables})
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertEqual(server.stdout.readline(), b"ready\n")
        return server

    def attach(self, server, *flags):
        return self.profile(flags=(f"--pid={server.pid}", "--duration=800ms",
                                   "--activities=cpu", *flags))

    def requests(self, result):
        """The numbers of those that were recorded: not one is missing."""
        self.assertEqual(result.status, 0, result.stderr)
        # It may be within one when the recording ends.
        # Nor has every system names for all of its libraries' functions.
        self.assertLessEqual(set(result.losses),
                             {"ranges_open_at_end", "frames_unresolved"})
        numbers = sorted(
            int(event["args"]["number"]) for event in result.slices()
            if event["name"] == "request")
        self.assertGreater(len(numbers), 5)
        self.assertEqual(
            numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        return numbers

    def test_a_server_is_recorded_again_and_again(self):
        server = self.start(KYMO_ATTACH="1")
        first = self.requests(self.attach(server))
        command, _ = self.command(
            flags=(f"--pid={server.pid}", "--activities=cpu"))
        killed = subprocess.Popen(
            command, stderr=subprocess.PIPE, cwd=self.folder.name)
        self.addCleanup(killed.stderr.close)
        self.assertIn(b"; attached to target (",
                      killed.stderr.readline())
        self.assertIn("is being recorded already, by another command",
                      self.attach(server).stderr)
        # An earlier run has left its trace there.
        attached = pathlib.Path(
            self.folder.name, f"out{self.runs + 1}", "attached")
        attached.mkdir(parents=True)
        (attached / "trace.json").write_text('{"traceEvents": []}')
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:
            demand = self.profile(
                flags=("--on_demand", "--duration=300ms",
                       f"--pid={server.pid}"),
                env={**os.environ, "KINETO_IPC_SOCKET_DIR": sockets})
        self.assertEqual(demand.status, 1)
        self.assertIn("attaching to 1 program with an open door\n",
                      demand.stderr)
        self.assertIn("were not recorded, as said above\n", demand.stderr)
        self.assertNotIn("attached to", demand.stderr)
        killed.kill()
        killed.wait()
        second = self.requests(self.attach(server))
        self.assertGreater(second[0], first[-1])
        self.assertIsNone(server.poll())

    def test_a_preloaded_runtime_watches_the_heap(self):
        server = self.start(
            KYMO_ATTACH="1", LD_PRELOAD=os.path.abspath(
                os.environ["KYMO_RUNTIME"]))
        result = self.attach(server, "--profile_memory")
        requests = len(self.requests(result))
        blocks = int(re.search(r"Allocated +(\d+)", result.stderr)[1])
        self.assertLessEqual(abs(blocks - requests), 1, result.stderr)

    def test_one_command_records_all_that_have_registered(self):
        """A door, and a client of PyTorch's that this test plays."""
        server = self.start(KYMO_ATTACH="1")
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:
            torch = threading.Thread(target=play_pytorch, args=(sockets,))
            torch.start()
            result = self.profile(
                flags=("--on_demand", "--duration=300ms",
                       f"--pid={server.pid},{os.getpid()}"),
                env={**os.environ, "KINETO_IPC_SOCKET_DIR": sockets})
            torch.join()
        self.requests(result)
        self.assertNotIn("its trace has no ranges", result.stderr)
        self.assertIn("aten::add", result.counts)
        self.assertRegex(
            result.stderr, rf"\({os.getpid()}\): was told, and begins")
        self.assertEqual(
            [path.name for path in pathlib.Path(result.out).glob("*.json")
             if str(os.getpid()) in path.name],
            [f"{THIS_NAME}-{os.getpid()}.json"])

    def test_a_program_that_runs_nothing_is_named(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:
            torch = threading.Thread(
                target=play_pytorch, args=(sockets, None))
            torch.start()
            result = self.profile(
                flags=("--on_demand", "--duration=300ms",
                       f"--pid={os.getpid()}"),
                env={**os.environ, "KINETO_IPC_SOCKET_DIR": sockets})
            torch.join()
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn(
            f"({os.getpid()}): its trace has no ranges: no operation of "
            "PyTorch ran while it recorded; perhaps the program is still "
            "loading PyTorch. To see what it does: "
            f"`kymo profile --pid={os.getpid()}`\n", result.stderr)

    def test_on_demand_needs_somebody(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as sockets:
            result = self.profile(
                flags=("--on_demand", f"--pid={os.getpid()}"),
                env={**os.environ, "KINETO_IPC_SOCKET_DIR": sockets})
        self.assertEqual(result.status, 1)
        self.assertIn("KINETO_USE_DAEMON=1", result.stderr)

    def send(self, number, *flags):
        """Sends a signal, which the command was begun to ignore."""
        server = self.start(KYMO_ATTACH="0")
        command, _ = self.command(
            flags=(f"--pid={server.pid}", "--activities=sampling", *flags))
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, cwd=self.folder.name,
            preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
        self.addCleanup(process.stderr.close)
        self.assertIn(b"; attached to target (", process.stderr.readline())
        process.send_signal(number)
        said = process.stderr.read().decode()
        self.assertEqual(process.wait(), 0, said)
        return said

    def test_a_command_in_the_background_ends_when_it_is_asked_to(self):
        self.assertIn("; recorded until Ctrl-C\n", self.send(signal.SIGINT))
        self.assertIn("; recorded until SIGTERM\n", self.send(signal.SIGTERM))

    def test_nohup_means_what_it_says(self):
        self.assertNotIn("recorded until",
                         self.send(signal.SIGHUP, "--duration=500ms"))

    def test_a_signal_before_the_recording_leaves_no_folder(self):
        def interrupt():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            os.kill(os.getpid(), signal.SIGINT)
        server = self.start(KYMO_ATTACH="0")
        result = self.profile(
            flags=(f"--pid={server.pid}", "--activities=sampling"),
            preexec_fn=interrupt)
        self.assertEqual(result.status, 1)
        self.assertEqual(
            result.stderr, "kymo: ended by a signal before the recording "
            "began: nothing was recorded\n")
        self.assertFalse(result.out.exists())

    def test_what_would_help_is_said(self):
        server = self.start(KYMO_ATTACH="0")
        result = self.attach(server)
        self.assertEqual(result.status, 1)
        self.assertIn("KYMO_ATTACH=1", result.stderr)


if __name__ == "__main__":
    unittest.main()
