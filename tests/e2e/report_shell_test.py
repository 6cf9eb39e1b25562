"""`report --sql -` at a terminal: the shell."""

import ctypes
import os
import pathlib
import pty
import select
import time
import unittest

from tests.e2e.report_cases import REPORT, ReportTestCase, op


class SqlShellTest(ReportTestCase):
    """What a person types, and sees."""

    NUMBERS = ("with recursive n(x) as (select 1 union all select x + 1 from n"
               " limit {}) select count(*) from n;\n")
    ENDLESS = NUMBERS.format(-1)

    def setUp(self):
        super().setUp()
        self.state = self.path("state")
        os.mkdir(self.state)
        trace = self.write("trace.json", {"traceEvents": [op("mm", 1, 2)]})
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ.update(XDG_STATE_HOME=self.state, TERM="dumb")
            os.execv(REPORT, [REPORT, trace, "--sql", "-"])
        self.pid = pid
        self.seen = ""
        self.read_until("kymo> ")

    def read_until(self, words):
        """What the terminal shows until the words, which are taken away."""
        while words not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], 120)
            self.assertTrue(ready, f"no {words!r} after {self.seen!r}")
            self.seen += os.read(self.terminal, 4096).decode()
        shown, self.seen = self.seen.split(words, 1)
        return shown

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_until_it_computes(self):
        def ticks():
            with open(f"/proc/{self.pid}/stat", encoding="utf-8") as stat:
                return int(stat.read().rsplit(")", 1)[1].split()[11])
        begin = ticks()
        limit = time.monotonic() + 120
        while ticks() < begin + os.sysconf("SC_CLK_TCK") // 10:
            self.assertLess(time.monotonic(), limit, self.seen)
            time.sleep(0.01)

    def end(self):
        self.type("\x04")
        self.wait_for_the_end()

    def wait_for_the_end(self):
        pid = 0
        for _ in range(12_000):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                break
            time.sleep(0.01)
        self.assertNotEqual(pid, 0, "it does not end")
        os.close(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_ctrl_c_ends_the_query_and_ctrl_d_the_shell(self):
        self.type(self.ENDLESS)
        self.wait_until_it_computes()
        self.type("\x03")
        self.read_until("the query was cancelled")
        self.read_until("kymo> ")
        self.type("select 6 * 7 as answer;\n")
        self.read_until("42")
        self.read_until("kymo> ")
        self.end()

    def test_ctrl_d_is_not_lost_while_a_query_runs(self):
        self.type(self.NUMBERS.format(10_000_000))
        self.wait_until_it_computes()
        self.type("\x04")
        self.wait_for_the_end()

    def test_it_completes_names_and_keeps_a_history(self):
        try:
            ctypes.CDLL("libedit.so.2")
        except OSError:
            self.skipTest("libedit2 is not installed")
        self.type("select 6 * 7 + 0 * count(*) as answer from led\t;\n")
        self.read_until("42")
        self.read_until("kymo> ")
        self.end()
        history = pathlib.Path(self.state, "kymo", "sql_history")
        self.assertIn("ledger", history.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
