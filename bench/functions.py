"""The peers of the lesson udf-in-process: sum(f(a, b)) with a Python function, over two int64 columns
and over the real flights."""


def add(a, b):
    return a + b


def speed(distance, air_time):
    return distance / (air_time / 60)


class Workload:
    """Two columns and a function over them, as crates/udf-in-process/src/bench.rs has them."""

    def __init__(self, name, columns, function, sql, chdb):
        self.name, self.columns, self.function = name, columns, function
        self.sql, self.chdb = sql, chdb

    def check(self, got):
        a, b = self.columns
        expected = (a + b).sum() if self.name == "ints" else (a / (b / 60)).sum()
        # Peers add floats in an order of their own.
        assert abs(got - expected) <= 1e-6 * abs(expected), (got, expected)


def workloads(rows, flights):
    import numpy
    import pyarrow.feather as feather

    # Numbers like those of the lesson's own workload: 24 bits, without a pattern.
    random = numpy.random.default_rng(1)
    ints = [random.integers(0, 2**24, rows) for _ in range(2)]
    table = feather.read_table(flights, columns=["distance", "air_time"]).drop_null()
    real = [numpy.resize(column.to_numpy().astype(float), rows) for column in table.columns]
    return [
        Workload("ints", ints, add, "BIGINT", "Int64"),
        Workload("flights", real, speed, "DOUBLE", "Float64"),
    ]


def chdb_case(load):
    import chdb
    import pandas
    from chdb import session

    name = f"frame_{load.name}"
    globals()[name] = pandas.DataFrame(dict(zip("ab", load.columns)))
    chdb.create_function(f"{load.name}_py", load.function, [load.chdb] * 2, load.chdb)
    connection = session.Session()

    def run(threads):
        query = (
            f"SELECT sum({load.name}_py(a, b)) FROM Python({name}) "
            f"SETTINGS max_threads={threads}, max_block_size=65536"
        )
        return float(str(connection.query(query, "CSV")).strip())

    return run, True, ["chdb"]


def duckdb_case(load):
    import duckdb
    import pandas

    connection = duckdb.connect()
    connection.register("t", pandas.DataFrame(dict(zip("ab", load.columns))))
    connection.execute("CREATE TABLE numbers AS SELECT * FROM t")
    connection.create_function("f", load.function, [load.sql] * 2, load.sql)

    def run(threads):
        connection.execute(f"SET threads TO {threads}")
        return connection.execute("SELECT sum(f(a, b)) FROM numbers").fetchone()[0]

    return run, True, ["duckdb"]


def sqlite3_case(load):
    import sqlite3

    a, b = load.columns
    connection = sqlite3.connect(":memory:")
    kind = "INTEGER" if load.name == "ints" else "REAL"
    connection.execute(f"CREATE TABLE t (a {kind}, b {kind})")
    connection.executemany("INSERT INTO t VALUES (?, ?)", zip(a.tolist(), b.tolist()))
    connection.create_function("f", 2, load.function)

    def run(threads):
        return connection.execute("SELECT sum(f(a, b)) FROM t").fetchone()[0]

    return run, False, []


def cases(peer, rows, flights):
    """Name of the workload, run(threads), whether threads matter, packages to name, rows."""
    for load in workloads(rows, flights):
        run, threaded, packages = globals()[f"{peer}_case"](load)
        load.check(run(1))
        yield load.name, run, threaded, packages, rows
