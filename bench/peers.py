"""The peers, measured in the same rounds as ours: 
`peers.py <chdb|duckdb|sqlite3> <rows> <flights.arrow>`.

Speaks the lines of crates/lesson-kit/src/protocol.rs. Each runs the same query over the same kind of
data: sum(f(a, b)) with a Python function, over two int64 columns and over the real flights.
"""

import importlib.metadata
import json
import platform
import sys
import sysconfig
import time


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


def measure(run, rows, ask):
    def once():
        start = time.perf_counter_ns()
        run(ask["threads"])
        return time.perf_counter_ns() - start

    until = time.perf_counter() + ask["warm_up"]
    last = once()
    while time.perf_counter() < until:
        last = once()
    samples = max(10, ask["samples"])
    # As criterion's flat sampling: as many iterations a sample as fit the time.
    iterations = max(1, int(ask["seconds"] * 1e9 / samples / last))
    return [sum(once() for _ in range(iterations)) / iterations / rows for _ in range(samples)]


def main():
    peer, rows, flights = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    answers = sys.stdout
    sys.stdout = sys.stderr
    cases, runs = [], []
    for load in workloads(rows, flights):
        run, threaded, packages = globals()[f"{peer}_case"](load)
        load.check(run(1))
        runs.append(run)
        cases.append(
            {
                "variant": f"peer:{peer}",
                "workload": load.name,
                "rows": rows,
                "slow": False,
                "threaded": threaded,
            }
        )
    for line in sys.stdin:
        ask = json.loads(line)
        if ask["op"] == "list":
            environment = {
                "python": platform.python_version(),
                "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
                "constants_immortal": True,
                "packages": [f"{name} {importlib.metadata.version(name)}" for name in packages],
            }
            answer = {"cases": cases, "environment": environment}
        else:
            before = sys._is_gil_enabled()
            samples = measure(runs[ask["case"]], rows, ask)
            answer = {
                "ns_per_row": samples,
                "gil_enabled": [before, sys._is_gil_enabled()],
                "first_block_ns": None,
            }
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
