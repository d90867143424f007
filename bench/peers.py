"""The peers, measured in the same rounds as ours: `peers.py <chdb|duckdb|sqlite3> <rows>`.

Speaks the lines of crates/lesson-kit/src/protocol.rs. Each runs the same query over the same kind of
data: sum(add(a, b)) with a Python function, two int64 columns.
"""

import importlib.metadata
import json
import platform
import sys
import sysconfig
import time


def add(a, b):
    return a + b


def columns(rows):
    """Numbers like those of the lesson's own workload: 24 bits, without a pattern."""
    import numpy

    random = numpy.random.default_rng(1)
    return [random.integers(0, 2**24, rows) for _ in range(2)]


def chdb_case(rows):
    import chdb
    import pandas
    from chdb import session

    frame = pandas.DataFrame(dict(zip("ab", columns(rows))))
    globals()["frame"] = frame
    chdb.create_function("add_py", add, ["Int64", "Int64"], "Int64")
    connection = session.Session()
    expected = int((frame.a + frame.b).sum())

    def run(threads):
        query = (
            "SELECT sum(add_py(a, b)) FROM Python(frame) "
            f"SETTINGS max_threads={threads}, max_block_size=65536"
        )
        got = int(str(connection.query(query, "CSV")).strip())
        assert got == expected, (got, expected)

    return run, True, ["chdb"]


def duckdb_case(rows):
    import duckdb
    import pyarrow

    a, b = columns(rows)
    connection = duckdb.connect()
    connection.register("t", pyarrow.table({"a": a, "b": b}))
    connection.execute("CREATE TABLE numbers AS SELECT * FROM t")
    connection.create_function("add_py", add, ["BIGINT", "BIGINT"], "BIGINT")
    expected = int((a + b).sum())

    def run(threads):
        connection.execute(f"SET threads TO {threads}")
        (got,) = connection.execute("SELECT sum(add_py(a, b)) FROM numbers").fetchone()
        assert got == expected, (got, expected)

    return run, True, ["duckdb"]


def sqlite3_case(rows):
    import sqlite3

    a, b = columns(rows)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER, b INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", zip(a.tolist(), b.tolist()))
    connection.create_function("add_py", 2, add)
    expected = int((a + b).sum())

    def run(threads):
        (got,) = connection.execute("SELECT sum(add_py(a, b)) FROM t").fetchone()
        assert got == expected, (got, expected)

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
    peer, rows = sys.argv[1], int(sys.argv[2])
    answers = sys.stdout
    sys.stdout = sys.stderr
    run, threaded, packages = globals()[f"{peer}_case"](rows)
    for line in sys.stdin:
        ask = json.loads(line)
        if ask["op"] == "list":
            case = {
                "variant": f"peer:{peer}",
                "workload": "ints",
                "rows": rows,
                "slow": False,
                "threaded": threaded,
            }
            environment = {
                "python": platform.python_version(),
                "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
                "constants_immortal": True,
                "packages": [f"{name} {importlib.metadata.version(name)}" for name in packages],
            }
            answer = {"cases": [case], "environment": environment}
        else:
            before = sys._is_gil_enabled()
            samples = measure(run, rows, ask)
            answer = {
                "ns_per_row": samples,
                "gil_enabled": [before, sys._is_gil_enabled()],
                "first_block_ns": None,
            }
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
