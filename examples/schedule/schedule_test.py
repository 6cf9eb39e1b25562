"""schedule leaves a trace of each cycle, with the steps that it recorded."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

EXAMPLE = os.path.abspath(os.environ["KYMO_EXAMPLE"])


class ScheduleTest(unittest.TestCase):

    def test_each_cycle_becomes_a_trace_of_its_steps(self):
        with tempfile.TemporaryDirectory() as directory:
            output = subprocess.run(
                [EXAMPLE, directory], check=True, capture_output=True, text=True).stdout
            files = sorted(pathlib.Path(directory).glob("*.json"))
            self.assertEqual(len(files), 2)
            # The same for XProf.
            self.assertEqual(len(list(pathlib.Path(directory).rglob("*.xplane.pb"))), 2)
            traces = [json.loads(file.read_text()) for file in files]
        for file in files:
            self.assertRegex(file.name, r"^[^.]+(\.[^.]+)*\.\d+\.pt\.trace\.json$")
        # One step skipped, one waited for, one of warming up, three recorded.
        steps = [{event["name"] for event in trace["traceEvents"]
                  if event["name"].startswith("ProfilerStep#")} for trace in traces]
        self.assertEqual(steps, [{"ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5"},
                                 {"ProfilerStep#8", "ProfilerStep#9", "ProfilerStep#10"}])
        for trace in traces:
            names = [event["name"] for event in trace["traceEvents"]]
            self.assertEqual(names.count("aten::mm"), 9)
            self.assertEqual(names.count("load_batch"), 3)
        self.assertIn("cycle 1 ends with step 6\n", output)
        self.assertIn("cycle 2 ends with step 11\n", output)
        self.assertEqual(output.count("ProfilerStep*"), 2)


if __name__ == "__main__":
    unittest.main()
