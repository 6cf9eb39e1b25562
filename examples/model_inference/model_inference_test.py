"""model_inference prints PyTorch's tables of its network."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

EXAMPLE = os.path.abspath(os.environ["KYMO_EXAMPLE"])


def rows(table):
    """The rows of a table, each as its cells by title."""
    rule, titles, *body = table.splitlines()
    widths = [len(column) for column in rule.split()]
    titles = cells(titles, widths)
    return [dict(zip(titles, cells(line, widths)))
            for line in body if line.startswith(" ")]


def cells(line, widths):
    result, at = [], 0
    for width in widths:
        result.append(line[at:at + width].strip())
        at += width + 2
    return result


class ModelInferenceTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.directory.name) / "trace.json"
        output = subprocess.run(
            [EXAMPLE, cls.trace], check=True, capture_output=True, text=True).stdout
        cls.by_name, cls.by_shape, cls.by_memory = map(rows, output.split("\n\n"))

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_operations_by_time(self):
        table = {row["Name"]: row for row in self.by_name}
        self.assertEqual(self.by_name[0]["Name"], "model_inference")
        self.assertEqual(table["model_inference"]["CPU total %"], "100.00%")
        counts = {name: int(row["# of Calls"]) for name, row in table.items()}
        self.assertEqual(
            {name: count for name, count in counts.items() if name.startswith("aten::")},
            {"aten::conv2d": 10, "aten::relu": 10, "aten::clamp_min": 10,
             "aten::add": 4, "aten::adaptive_avg_pool2d": 1, "aten::addmm": 1})

    def test_groups_by_input_shape(self):
        convolutions = {
            row["Input Shapes"]: row for row in self.by_shape if row["Name"] == "aten::conv2d"}
        wide = convolutions["[[5, 16, 32, 32], [16, 16, 3, 3], [], [], [], [], []]"]
        self.assertEqual(wide["# of Calls"], "4")
        # 2 N OH OW KH KW Cin Cout, four times.
        flops = 4 * 2 * 5 * 32 * 32 * 3 * 3 * 16 * 16
        unit = next(title for title in wide if title.startswith("Total "))
        scale = {"Total KFLOPs": 1e3, "Total MFLOPs": 1e6, "Total GFLOPs": 1e9}[unit]
        self.assertAlmostEqual(float(wide[unit]) * scale, flops, delta=scale / 100)

    def test_operations_by_the_memory_that_they_took(self):
        # Five images, sixteen channels, floats; five such planes of 1024.
        convolution = next(row for row in self.by_memory if row["Name"] == "aten::conv2d")
        wide = 5 * 5 * 16 * 1024 * 4
        narrow = 5 * 5 * 32 * 256 * 4
        self.assertEqual(convolution["Self CPU Mem"], f"{(wide + narrow) / 1024**2:.2f} MB")

    def test_writes_the_timeline(self):
        events = json.loads(self.trace.read_text())["traceEvents"]
        names = [event["name"] for event in events if event.get("ph") == "X"]
        self.assertEqual(names.count("aten::conv2d"), 10)


if __name__ == "__main__":
    unittest.main()
