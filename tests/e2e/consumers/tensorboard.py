"""A TensorBoard of one's own, on a folder, and what it answers over HTTP.

    with TensorBoard(logdir) as board:
        board.json("/data/runs")
        board.get("/data/plugin/profile/data?...")     # (type, bytes)
        browser.open(board.url)
"""

import gzip
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from tests.e2e.consumers import strict_json

START_SECONDS = 60
ANSWER_SECONDS = 60


class TensorBoard:

    def __init__(self, logdir):
        self._log = tempfile.TemporaryFile()
        home = tempfile.gettempdir()
        # A group of its own, for its data server ends with it.
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-m", "tensorboard.main",
             f"--logdir={logdir}", "--host=127.0.0.1", "--port=0"],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            env=dict(os.environ, HOME=home), start_new_session=True)
        try:
            self.url = self._wait_for_url()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()

    @property
    def log(self):
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def _wait_for_url(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            found = re.search(r"TensorBoard \S+ at (http://127\.0\.0\.1:\d+/)",
                              self.log)
            if found:
                return found.group(1)
            time.sleep(0.1)
        raise AssertionError(f"TensorBoard did not start:\n{self.log}")

    def get(self, path, **parameters):
        """Content type and body; an answer that is an error raises."""
        url = urllib.parse.urljoin(self.url, path)
        if parameters:
            url += "?" + urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(url, timeout=ANSWER_SECONDS) as answer:
                body = answer.read()
                if answer.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                return answer.headers.get_content_type(), body
        except urllib.error.HTTPError as error:
            raise AssertionError(
                f"{url}: {error.code} {error.read()[:1000]}\n{self.log}"
            ) from error

    def json(self, path, **parameters):
        return strict_json.parse(self.get(path, **parameters)[1])

    def wait_json(self, what, is_ready, path, **parameters):
        """The answer, once `is_ready(answer)`."""
        end = time.monotonic() + ANSWER_SECONDS
        while True:
            answer = self.json(path, **parameters)
            if is_ready(answer):
                return answer
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come: {answer}\n"
                                     f"{self.log}")
            time.sleep(0.2)
