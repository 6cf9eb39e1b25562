"""Asks the questions of docs/fleet.md on Spark or ClickHouse, by hand.

    ./bazelw build //tests/e2e/consumers:gpu_trace_writer
    pip install duckdb pyarrow pyspark chdb     # and a JRE: default-jre-headless
    export KYMO_GPU_WRITER=bazel-bin/tests/e2e/consumers/gpu_trace_writer
    python3 -m tests.e2e.consumers.fleet_by_hand spark        # or clickhouse

For each question it prints `same` if the rows are DuckDB's, in their order, and
else both. Numbers may differ in the tenth digit.
"""

import datetime
import decimal
import json
import pathlib
import re
import sys

from tests.e2e.consumers import parquet_test

PAGE = "docs/fleet.md"


def block_after(heading, language):
    """The first code of the language behind the heading of the page."""
    text = pathlib.Path(PAGE).read_text(encoding="utf-8")
    section = text.split(heading, 1)[1]
    return re.search(rf"```{language}\n(.*?)```", section, re.S)[1]


def spark(folder):
    """Asks Spark, on this machine alone."""
    # Each engine is installed only where it is tried.
    # pylint: disable=import-outside-toplevel
    from pyspark.sql import SparkSession
    session = (SparkSession.builder.master("local[2]")
               .config("spark.ui.enabled", "false")
               .config("spark.sql.session.timeZone", "UTC").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    exec(block_after("## With Spark", "python"),  # pylint: disable=exec-used
         {"spark": session, "folder": str(folder)})
    return lambda query: [tuple(row) for row in session.sql(query).collect()]


def clickhouse(folder):
    """Asks ClickHouse in this process."""
    # pylint: disable=import-outside-toplevel
    from chdb.session import Session
    session = Session()
    exec(block_after("## With ClickHouse", "python"),  # pylint: disable=exec-used
         {"session": session, "folder": str(folder)})

    def ask(query):
        query = re.sub(r"percentile_cont\((.+?)\) within group "
                       r"\(order by (.+?)\)",
                       r"quantileExactInclusive(\1)(\2)", query)
        rows = json.loads(str(session.query(query, "JSONCompact")))["data"]
        return [tuple(row) for row in rows]
    return ask


def plain(value):
    """The value as all engines could give it."""
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value):
        value = datetime.datetime.fromisoformat(value[:19])
    if isinstance(value, datetime.date):
        return value.isoformat()[:19].removesuffix("T00:00:00")
    if isinstance(value, (decimal.Decimal, float)):
        return float(f"{value:.9g}")
    return value


def main():
    case = parquet_test.FleetTest
    case.setUpClass()
    try:
        case.con.sql("set timezone = 'UTC'")
        ask = {"spark": spark, "clickhouse": clickhouse}[sys.argv[1]](
            case.folder)
        for question, query in case().questions().items():
            wanted, got = ([tuple(map(plain, row)) for row in rows]
                           for rows in (case.con.sql(query).fetchall(),
                                        ask(query.strip())))
            print("same" if got == wanted else f"{wanted}\n{got}", question)
    finally:
        case.doClassCleanups()


if __name__ == "__main__":
    main()
