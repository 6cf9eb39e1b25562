"""Traces: loading them, asking them."""

import json
import threading
import warnings
import weakref

from kymo import _library
from kymo._errors import Error, TraceWarning
from kymo._table import KeyAverages, Rows, TraceTable

_ABOUT = json.loads(_library.about())
VERSION = _ABOUT["version"]


def _flags(options):
    """{"step": 3, "quiet": True} as the command has them."""
    words = []
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no{name}")
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        words.append(f"--{name}={value}")
    return words


class Trace:
    """A loaded trace. Its tables are attributes: trace.events, trace.steps.

    Make one with kymo.load().
    """

    def __init__(self, paths, flags):
        self._handle, findings = _library.open_trace(_flags(flags), paths)
        self._close = weakref.finalize(self, _library.close_trace, self._handle)
        # When Python ends, others may still read.
        self._close.atexit = False
        # The queries of a trace run one at a time.
        self._lock = threading.Lock()
        self._paths = paths
        self.findings = findings.splitlines()

    def _live(self):
        if not self._close.alive:
            raise Error("the trace is closed")
        return self._handle

    @property
    def tables(self):
        """The tables' names."""
        return list(_ABOUT["tables"])

    def __getattr__(self, name):
        if name not in _ABOUT["tables"]:
            raise AttributeError(
                f"a trace has no '{name}'; its tables are: "
                + ", ".join(_ABOUT["tables"]))
        return TraceTable(self, name)

    def __dir__(self):
        return [*super().__dir__(), *_ABOUT["tables"]]

    def sql(self, query):
        """The rows of a query in SQL, as docs/query.md describes it."""
        with self._lock:
            return Rows("result", _library.sql(self._live(), query))

    def query(self, name):
        """The rows of a query that is ready to use, such as "slowest_steps"."""
        if name not in _ABOUT["queries"]:
            raise Error(f"there is no query '{name}'; there are: "
                        + ", ".join(_ABOUT["queries"]))
        return self.sql(_ABOUT["queries"][name])

    def key_averages(self, **flags):
        """Averages by name: all rows, or as many as row_limit says.

        The flags are those of `kymo report`: group_by="input_shape",
        sort_by="count", row_limit=10, step=3, ...
        """
        shown = dict({"row_limit": -1}, **flags)
        rows = _library.averages(self._live(), _flags(shown))
        return KeyAverages(rows, lambda more: self.report(**{**flags, **more}))

    def report(self, **flags):
        """What `kymo report` prints, as text."""
        return _library.report(self._live(), _flags(flags))

    def close(self):
        """Frees the trace once nothing reads it any more."""
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        paths = ", ".join(map(str, self._paths))
        return f"<kymo trace {paths}>"


def load(*paths, **flags):
    """Loads a file, or several as one trace; a folder stands for its trace.

    It takes all that `kymo report` reads, and its flags: step="3-5",
    time="1s..2s", thread="main", category="cpu_op", name="conv",
    importer="chrome", sql_max_seconds=300, sql_max_mib=1024, ...
    """
    return _load(paths, flags)


def key_averages(*paths, **flags):
    """load(...).key_averages(...) in one, with the flags of both."""
    return _load(paths, flags).key_averages(**flags)


def _load(paths, flags):
    if not paths:
        raise TypeError("there is no path of a trace")
    trace = Trace(paths, flags)
    for finding in trace.findings:
        warnings.warn(finding, TraceWarning, stacklevel=3)
    return trace
