"""The peer of the lesson arrow-zero-copy: the same questions about the same strings, in DuckDB's own
table. The columns are those of crates/arrow-zero-copy/src/bench.rs."""

QUESTIONS = {
    "": "SELECT sum(length(text)) FROM t_{0}",
    "-filter": "SELECT count(*) FROM t_{0} WHERE contains(text, 'LAX')",
    "-groups": "SELECT sum(n * n) FROM (SELECT count(*) AS n FROM t_{0} GROUP BY text)",
}


def columns(path, rows):
    import numpy
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.feather as feather

    flights = feather.read_table(path, columns=["dest", "tailnum"])
    text = compute.binary_join_element_wise(
        flights["dest"].cast("string"), compute.fill_null(flights["tailnum"].cast("string"), "none"), " "
    )
    yield "flight-texts", pyarrow.concat_arrays(text.chunks * (rows // len(text) + 1))[:rows]
    draw = numpy.random.default_rng(1)
    words = pyarrow.array(["Frankfurt", "Zürich", "Göteborg", "New York JFK", "Los Angeles", "LAX"])
    picked = [words.take(pyarrow.array(draw.integers(0, 6, rows))) for _ in range(3)]
    yield "table", compute.binary_join_element_wise(*picked, " via ")


def cases(peer, rows, flights):
    """Name of the workload, run(threads), whether threads matter, packages to name, rows."""
    import duckdb
    import pyarrow

    assert peer == "duckdb"
    rows = 10_000_000 if rows >= 4_000_000 else rows * 4
    connection = duckdb.connect()
    for name, column in columns(flights, rows):
        table = name.replace("-", "_")
        connection.register("arrow", pyarrow.table({"text": column}))
        connection.execute(f"CREATE TABLE t_{table} AS SELECT text FROM arrow")
        connection.unregister("arrow")
        for suffix, sql in QUESTIONS.items():

            def run(threads, query=sql.format(table)):
                connection.execute(f"SET threads TO {threads}")
                return connection.execute(query).fetchone()[0]

            yield name + suffix, run, True, ["duckdb"], rows
