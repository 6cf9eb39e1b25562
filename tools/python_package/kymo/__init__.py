"""Traces of any tool as tables, for DuckDB, pandas, polars and pyarrow.

    import kymo
    trace = kymo.load("kymo-out/run")        # whatever `kymo report` reads
    events = trace.events
    duckdb.sql("select name, count(*) from events group by name")
    pyarrow.table(events).to_pandas()
    for row in trace.sql("select name, max(dur_ns) as longest from events"):
        print(row["name"], row["longest"])
    print(kymo.key_averages("kymo-out/run").table(row_limit=10))

Tables and columns are those of docs/query.md. They are handed over through
Arrow's C interface, so that this package needs no other.
"""

from kymo._errors import Error, NotFoundError, TraceWarning
from kymo._table import KeyAverages, Table
from kymo._trace import Trace, key_averages, load
from kymo._trace import VERSION as __version__

__all__ = ["Error", "KeyAverages", "NotFoundError", "Table", "Trace",
           "TraceWarning", "__version__", "key_averages", "load"]
