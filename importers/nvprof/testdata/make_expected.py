"""Makes the expected texts of nvprof_events_test.cc with PyTorch's own code.

    pip download --no-deps --only-binary=:all: --python-version 3.12 \\
        --platform macosx_14_0_arm64 torch==2.15.0
    unzip torch-*.whl 'torch/autograd/profiler*.py' -d pytorch
    python3 make_expected.py pytorch/torch/autograd

Everything that decides the results is Python: load_nvprof, FunctionEvent and
EventList. So the package's two files are enough, on any machine. What they
import of PyTorch's C++ is stubbed below; of that only _demangle is called.

What each text is:

  nested_markers.events.txt  What load_nvprof returns: each marker with its
      kernels, after EventList has removed the marker that only repeats its
      parent. Times are as in the database. (load_nvprof gives a kernel the
      number of its name. Here it is the text that StringTable has for it.)
  nested_markers.table.txt   table() and key_averages().table() of an EventList
      with the events of the whole database: markers, calls and kernels, in
      microseconds, with use_device="cuda" and the tree built. load_nvprof does
      none of that, so all its device times read as 0. Here a kernel is appended
      to the innermost marker alone: in a tree, PyTorch's device_time_total adds
      the children's kernels, so each marker counts each kernel once.
  nested_markers.chrome.txt  export_chrome_trace() of these events, with each
      kernel appended to every marker that load_nvprof appends it to.
"""

import contextlib
import enum
import importlib
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).parent


class DeviceType(enum.IntEnum):
    CPU = 0
    CUDA = 1
    HPU = 15
    XPU = 12
    MTIA = 19
    PrivateUse1 = 20


class Anything:
    """Stands for what is imported and never called."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()


class Stub(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


def demangle(name):
    return subprocess.run(["c++filt", name], capture_output=True, check=True,
                          text=True).stdout.strip()


def import_pytorch(folder):
    for name in ["torch", "torch._C", "torch._C._profiler", "torch.autograd",
                 "torch.cuda", "torch.futures"]:
        sys.modules[name] = Stub(name)
    torch = sys.modules["torch"]
    for name in ["_C", "autograd", "cuda", "futures"]:
        setattr(torch, name, sys.modules["torch." + name])
    torch._C._demangle = demangle
    torch._C._get_privateuse1_backend_name = lambda: "privateuseone"
    torch.futures.Future = list  # a base that may be subscripted
    torch.autograd.DeviceType = DeviceType
    torch.autograd.__path__ = [folder]
    return (importlib.import_module("torch.autograd.profiler"),
            importlib.import_module("torch.autograd.profiler_util"))


def make_database(folder):
    path = f"{folder}/nested_markers.nvprof"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript((HERE / "nested_markers.sql").read_text())
    return path


def kernel_name(database, number):
    rows = database.execute("SELECT value FROM StringTable WHERE _id_ = ?",
                            (number,))
    return demangle(rows.fetchone()["value"])


class Events:
    """The events of the whole database, in microseconds."""

    def __init__(self, profiler_util, database, markers, all_markers_list):
        self.util = profiler_util
        self.database = database
        self.begin = min(marker.time_range.start for marker in markers)
        self.events = []
        for marker in markers:
            event = self.add(marker.name, marker.time_range.start,
                             marker.time_range.end, thread=1)
            for kernel in marker.kernels:
                if all_markers_list or self.is_innermost(markers, marker,
                                                         kernel):
                    event.append_kernel(kernel_name(database, kernel.name),
                                        kernel.device, kernel.duration / 1000)
        for row in database.execute("SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME"):
            self.add("cudaLaunchKernel", row["start"], row["end"], thread=1)
        for row in database.execute(
                "SELECT * FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"):
            self.add(kernel_name(database, row["name"]), row["start"],
                     row["end"], thread=2, device_type=DeviceType.CUDA)
        self.events.sort(key=lambda e: (e.time_range.start, -e.time_range.end))

    def add(self, name, start_ns, end_ns, **fields):
        event = self.util.FunctionEvent(
            id=len(self.events) + 1, name=name, trace_name=name,
            start_us=(start_ns - self.begin) / 1000,
            end_us=(end_ns - self.begin) / 1000, use_device="cuda", stack=[],
            input_shapes=[], flops=0, **fields)
        self.events.append(event)
        return event

    @staticmethod
    def is_innermost(markers, marker, kernel):
        """Whether no other marker that has the kernel is inside of `marker`.

        The kernels of the test differ in their durations or their markers."""
        inside = [m for m in markers if m is not marker and
                  marker.time_range.start <= m.time_range.start and
                  m.time_range.end <= marker.time_range.end]
        return not any(kernel in m.kernels for m in inside)

    def list(self):
        events = self.util.EventList(self.events, use_device="cuda")
        events._build_tree()
        return events


def main():
    profiler, profiler_util = import_pytorch(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = make_database(folder)
        markers = profiler.load_nvprof(path)
        database = sqlite3.connect(path)
        database.row_factory = sqlite3.Row
        with open(HERE / "nested_markers.events.txt", "w") as out:
            merged = profiler.load_nvprof(path)
            merged._build_tree()
            for m in merged:
                out.write(f"{m.name} {m.time_range.start} {m.time_range.end}\n")
                for k in m.kernels:
                    out.write(f"  {kernel_name(database, k.name)} on "
                              f"{k.device}: {k.duration}\n")
        once = Events(profiler_util, database, markers, False).list()
        (HERE / "nested_markers.table.txt").write_text(
            once.table() + "\n" +
            once.key_averages().table(sort_by="cuda_time_total"))
        every = Events(profiler_util, database, markers, True).list()
        every.export_chrome_trace(HERE / "nested_markers.chrome.txt")


main()
