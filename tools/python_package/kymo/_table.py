"""Tables: what other programs read as Arrow, and Python as dicts."""

import weakref

from kymo import _arrow, _library


class Table:
    """Rows with named columns.

    DuckDB, polars, pyarrow and others take it as it is. It can be read as often
    as one likes, also by several at once.
    """

    def __init__(self, name, open_stream, count):
        self._name = name
        self._open_stream = open_stream
        self._count = count
        self._fields = None

    def _columns(self):
        if self._fields is None:
            stream = self._open_stream()
            try:
                self._fields = _arrow.fields(stream)
            finally:
                _library.close_stream(stream)
        return self._fields

    @property
    def columns(self):
        """The columns' names."""
        return [name for name, _ in self._columns()]

    @property
    def types(self):
        """{column: "int64", "double", "text", "bool" or, if a result has no
        value there, "null"}"""
        return dict(self._columns())

    def __arrow_c_stream__(self, requested_schema=None):
        """A PyCapsule, as Arrow's PyCapsule interface defines it."""
        return _library.stream_capsule(self._open_stream())

    def __arrow_c_schema__(self):
        return _library.schema_capsule(self._open_stream())

    def __len__(self):
        return self._count()

    def __bool__(self):
        return True

    def __iter__(self):
        # The stream is opened when the first row is wanted. Of an iterator that
        # is dropped before, nobody would close it.
        columns = self._columns()
        yield from _arrow.rows(self._open_stream(), columns)

    def to_pandas(self):
        """A pandas.DataFrame. It takes pandas and pyarrow."""
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError(
                "to_pandas() takes pyarrow: pip install pyarrow pandas"
            ) from error
        return pyarrow.table(self).to_pandas()

    def __repr__(self):
        shown = ", ".join(f"{name}: {kind}" for name, kind in self._columns())
        return f"<kymo {self._name}: {len(self)} rows ({shown})>"


class TraceTable(Table):
    """A table of a trace, all of it or some of its columns."""

    def __init__(self, trace, name, columns=()):
        super().__init__(
            f"table '{name}'",
            lambda: _library.table(trace._live(), name, columns),
            lambda: _library.row_count(trace._live(), name.encode()))
        self._trace = trace
        self._table = name

    def select(self, *columns):
        """The same rows with these columns alone, which takes less time."""
        if not columns:
            raise ValueError("select() takes the names of columns")
        chosen = TraceTable(self._trace, self._table, columns)
        chosen.columns  # says which column there is not
        return chosen


class Rows(Table):
    """Rows that are kept: of a query, or of averages."""

    def __init__(self, name, rows):
        super().__init__(name, lambda: _library.rows_stream(rows),
                         lambda: _library.rows_count(rows))
        weakref.finalize(self, _library.close_rows, rows).atexit = False


class KeyAverages(Rows):
    """Averages by name, as PyTorch's key_averages() has them.

    Times are microseconds. `table()` is what `kymo report` prints.
    """

    def __init__(self, rows, report):
        super().__init__("key averages", rows)
        self._report = report

    def table(self, **flags):
        """The text of `kymo report` with its flags, such as sort_by="count",
        row_limit=10."""
        return self._report(flags)

    def __str__(self):
        return self.table()
