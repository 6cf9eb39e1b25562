"""A profile of train_mlp, and what Kymo itself says of it.

    recorded = record(folder, "--export=chrome,tensorboard")
    recorded.path("trace.json")            # a file that the command wrote
    recorded.operations["mlp::relu"]       # a row of summary.json

The tests of this folder hold what other programs read in those files against
these numbers, which are integers: nanoseconds and bytes.
"""

import os
import pathlib
import subprocess

from tests.e2e.consumers import strict_json

PROFILE = os.path.abspath(os.environ.get("KYMO_PROFILE", ""))
TRAIN_MLP = os.path.abspath(os.environ.get("KYMO_TRAIN_MLP", ""))
GPU_WRITER = os.path.abspath(os.environ.get("KYMO_GPU_WRITER", ""))
STEPS = "ProfilerStep*"

# Enough for every view to have something to show, and small files.
EPOCHS = 2


class Recorded:
    """The files of one output folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.summary = strict_json.load(self.path("summary.json"))

    def path(self, name):
        return self.folder / name

    @property
    def rows(self):
        return {row["name"]: row for row in self.summary["key_averages"]}

    @property
    def operations(self):
        """Annotated operations of the CPU by name."""
        return {
            name: row for name, row in self.rows.items()
            if not row["is_user_annotation"] and not row["is_device"]
        }

    @property
    def device_activities(self):
        """What ran on devices, by name."""
        return {name: row for name, row in self.rows.items()
                if row["is_device"]}

    @property
    def step_count(self):
        return self.rows[STEPS]["count"]

    @property
    def heap_peak_bytes(self):
        pools = [pool for pool in self.summary["memory"]["pools"]
                 if pool["source"] == "heap"]
        assert len(pools) == 1, pools
        return pools[0]["peak"]["bytes"]

    def events(self):
        return strict_json.load(self.path("trace.json"))["traceEvents"]


def record(folder, *flags, activities="cpu", with_libraries=False):
    """Profiles train_mlp into `folder`; raises if that does not go well.

    With libraries, oneTBB tells of its tasks through ITT. Readers that know
    PyTorch's categories alone leave such ranges out, and then count their time
    as that of the operation around them.
    """
    if with_libraries:
        activities += ",itt"
    completed = subprocess.run(
        [PROFILE, f"--output_dir={folder}", f"--activities={activities}",
         *flags, TRAIN_MLP, f"--epochs={EPOCHS}"],
        capture_output=True, text=True, timeout=120, check=False)
    if completed.returncode != 0:
        raise AssertionError(f"the profile ended with {completed.returncode}:\n"
                             f"{completed.stderr}")
    return Recorded(folder)


def write_gpu_trace(folder, *exporters, is_lossy=False):
    """A made-up trace with a GPU; see gpu_trace_writer.cc."""
    flags = ["--lossy"] if is_lossy else []
    subprocess.run([GPU_WRITER, str(folder), *flags, "summary", *exporters],
                   timeout=60, check=True)
    return Recorded(folder)
