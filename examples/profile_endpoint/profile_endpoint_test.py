"""The server answers with profiles of itself, in the forms that tools read."""

import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

EXAMPLE = os.path.abspath(os.environ["KYMO_EXAMPLE"])


class ProfileEndpointTest(unittest.TestCase):

    def setUp(self):
        self.server = subprocess.Popen([EXAMPLE, "0"], stdout=subprocess.PIPE, text=True)
        self.url = re.match(r"http://localhost:\d+", self.server.stdout.readline()).group()

    def tearDown(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read()

    def status_of(self, path):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.get(path)
        with caught.exception as error:
            return error.code, error.read().decode()

    def get_samples(self, path):
        try:
            return self.get(path)
        except urllib.error.HTTPError as error:
            with error:
                says = error.read().decode()
            if "perf_event_open" not in says:
                self.fail(says)
            self.skipTest(f"NOT TESTED HERE: {says}")

    def test_the_cpu_profile_has_the_functions_of_the_server(self):
        profile = self.get_samples("/debug/pprof/profile?seconds=1")
        self.assertIn(b"SortWords", gzip.decompress(profile))
        # The thread that reads the samples is none of the server's.
        self.assertNotIn(b"kymo-sampling", gzip.decompress(profile))
        if shutil.which("go"):
            with tempfile.TemporaryDirectory() as home:
                table = subprocess.run(
                    ["go", "tool", "pprof", "-top", "-cum",
                     self.url + "/debug/pprof/profile?seconds=1"],
                    env={**os.environ, "HOME": home, "PPROF_TMPDIR": home}, check=True,
                    capture_output=True, text=True).stdout
            self.assertIn("SortWords", table)

    def test_the_heap_profile_has_what_allocated(self):
        profile = gzip.decompress(self.get("/debug/pprof/heap?seconds=1"))
        self.assertIn(b"SortWords", profile)

    def test_the_trace_has_annotated_ranges(self):
        trace = json.loads(self.get_samples("/debug/kymo/trace?seconds=1"))
        names = [event["name"] for event in trace["traceEvents"]]
        self.assertIn("sort_words", names)

    def test_says_what_is_wrong_with_a_request(self):
        self.assertEqual(self.status_of("/nothing"), (404, "there is no /nothing\n"))
        self.assertEqual(self.status_of("/debug/pprof/profile?seconds=0"),
                         (400, "seconds is from 1 to 600\n"))
        self.assertIn(b"sorted", self.get("/"))


if __name__ == "__main__":
    unittest.main()
