"""The peers, measured in the same rounds as ours:
`peers.py <lesson> <chdb|duckdb|sqlite3> <rows> <flights.arrow>`.

Speaks the lines of crates/lesson-kit/src/protocol.rs.
"""

import importlib
import importlib.metadata
import json
import platform
import sys
import sysconfig
import time


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


LESSONS = {"udf-in-process": "functions", "arrow-zero-copy": "strings"}


def main():
    lesson, peer, rows, flights = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    answers = sys.stdout
    sys.stdout = sys.stderr
    cases, runs, packages = [], [], []
    module = importlib.import_module(LESSONS[lesson])
    for workload, run, threaded, packages, count in module.cases(peer, rows, flights):
        runs.append((run, count))
        cases.append(
            {
                "variant": f"peer:{peer}",
                "workload": workload,
                "rows": count,
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
            samples = measure(*runs[ask["case"]], ask)
            answer = {
                "ns_per_row": samples,
                "gil_enabled": [before, sys._is_gil_enabled()],
                "first_block_ns": None,
            }
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
