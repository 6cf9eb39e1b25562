"""Test cases with a profile of train_mlp, or of a GPU, open in a TensorBoard.

The log folder is the one that the exporter wrote, with the Chrome trace beside
it under the name by which torch-tb-profiler finds traces.
"""

import pathlib
import shutil
import tempfile
import unittest

from tests.e2e.consumers import recorded
from tests.e2e.consumers.tensorboard import TensorBoard

PYTORCH_RUN = "pytorch"
WORKER = "host_1"
NS_PER_MS = 1_000_000


class BoardTestCase(unittest.TestCase):
    """`cls.recorded` and `cls.board`, of `cls.write(folder)`."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.recorded = cls.write(pathlib.Path(scratch.name) / "out")
        cls.logdir = cls.recorded.path("tensorboard")
        run = cls.logdir / PYTORCH_RUN
        run.mkdir()
        shutil.copyfile(cls.recorded.path("trace.json"),
                        run / f"{WORKER}.1.pt.trace.json")
        cls.board = cls.enterClassContext(TensorBoard(cls.logdir))

    @classmethod
    def write(cls, folder):
        return cls.write_cpu(folder)

    @staticmethod
    def write_cpu(folder):
        return recorded.record(folder, "--export=tensorboard,chrome",
                               "--profile_memory")

    @staticmethod
    def write_gpu(folder):
        return recorded.write_gpu_trace(folder, "tensorboard", "chrome",
                                        is_lossy=True)

    def step_times_ns(self):
        """Of each step by number, from the Chrome trace."""
        return {int(event["name"].split("#")[1]): round(event["dur"] * 1000)
                for event in self.recorded.events()
                if event.get("cat") == "user_annotation" and
                event["name"].startswith("ProfilerStep#")}


def table_rows(table):
    """Rows of a Google data table as dictionaries by column."""
    columns = [column["id"] for column in table["cols"]]
    return [dict(zip(columns, (cell["v"] for cell in row["c"])))
            for row in table["rows"]]
