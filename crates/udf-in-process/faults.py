"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import os
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa

import ungil
from ungil import _faults
from ungil import INT64, STRING, udf_in_process


def shown(text):
    return text


def size(text):
    return len(text)


def first(text, other):
    return text


def second(text, other):
    return other


def noisy(text):
    print("called")
    return text


def plus(a, b):
    return a + b


def dies(a):
    import os

    os._exit(3)


def silent(a):
    import time

    time.sleep(60)


def engine(threads=1, **columns):
    one = ungil.Engine(threads=threads)
    one.register("t", pa.table(columns))
    return one


def values(result):
    return result.to_pyarrow().column(0).to_pylist()


def naive(function, arg_types, returns, **columns):
    udf_in_process.create_naive_function("f", function, arg_types, returns)
    return values(engine(**columns).sql(f"SELECT f({', '.join(columns)}) FROM t"))


# Before.


def naive_loses_blanks():
    return naive(shown, [STRING], STRING, a=[" abc "])[0], " abc "


def naive_gets_escaped_text():
    return naive(size, [STRING], INT64, a=["a\tb"])[0], 3


def naive_empty_first_argument():
    naive(first, [STRING, STRING], STRING, a=[""], b=["b"])


def naive_empty_last_argument():
    naive(second, [STRING, STRING], STRING, a=["a"], b=[""])


def naive_print():
    naive(noisy, [STRING], STRING, a=["a"])


def naive_null():
    naive(shown, [STRING], STRING, a=["a", None])


def naive_arguments_are_text():
    return naive(plus, [INT64, INT64], STRING, a=[1], b=[2])[0], 3


def naive_forgets_state():
    udf_in_process.create_naive_function("f", call_number_alone, [INT64], INT64)
    one = engine(a=list(range(8)))
    got = values(one.sql("SELECT f(a) FROM t", block_rows=2))
    began = f"{got.count(1)} blocks that began at 1"
    return Words(began), Words("1")


class Words(str):
    """A text that is shown without quotes."""

    __repr__ = str.__str__


def call_number_alone(a):
    globals()["seen"] = globals().get("seen", 0) + 1
    return globals()["seen"]


def pooled_child_is_killed():
    udf_in_process.create_pooled_function("f", dies, [INT64], INT64)
    engine(a=[1]).sql("SELECT f(a) FROM t")


def pooled_child_is_silent():
    udf_in_process.create_pooled_function("f", silent, [INT64], INT64, read_timeout=0.5)
    engine(a=[1]).sql("SELECT f(a) FROM t")


# After.


def text_arrives_as_it_is():
    texts = [" abc ", "a\tb", "line\nline", "\\N", "\\", "", "'\"", "\0", "né中🎉"]
    ungil.create_function("f", shown, [STRING], STRING)
    ungil.create_function("g", first, [STRING, STRING], STRING)
    ungil.create_function("h", second, [STRING, STRING], STRING)
    one = engine(a=texts, b=[""] * len(texts))
    got = [values(one.sql(query)) for query in (
        "SELECT f(a) FROM t", "SELECT g(a, b) FROM t", "SELECT g(b, a) FROM t",
        "SELECT h(a, b) FROM t",
    )]
    empty = [""] * len(texts)
    return got, [texts, texts, empty, empty]


def print_null_and_types():
    def kind(a, b):
        print("printing is nobody's business")
        return f"{type(a).__name__} {type(b).__name__}"

    ungil.create_function("f", kind, [INT64, STRING], STRING, on_null="pass")
    ungil.create_function("g", kind, [INT64, STRING], STRING)
    one = engine(a=[1, None], b=["x", "y"])
    got = [values(one.sql(f"SELECT {name}(a, b) FROM t")) for name in "fg"]
    return got, [["int str", "NoneType str"], ["int str", None]]


def raises_on_eight_threads():
    def half(a):
        if a == 70_000:
            raise ValueError("odd one out")
        return a // 2

    ungil.create_function("f", half, [INT64], INT64)
    one = engine(threads=8, a=list(range(100_000)))
    try:
        one.sql("SELECT sum(f(a)) FROM t", block_rows=1000)
    except ungil.FunctionError as error:
        where = (error.function, error.row, type(error.__cause__).__name__)
    else:
        where = None
    alone = one.sql("SELECT sum(f(a)) FROM t WHERE a < 70000", block_rows=1000).scalar()
    return (where, alone), (("f", 70_000, "ValueError"), sum(a // 2 for a in range(70_000)))


def interrupt():
    # A shell that starts this in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    started = threading.Event()

    def slow(a):
        started.set()
        time.sleep(0.001)
        return a

    def press():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    ungil.create_function("f", slow, [INT64], INT64)
    one = engine(threads=2, a=list(range(1_000_000)))
    threading.Thread(target=press, daemon=True).start()
    try:
        one.sql("SELECT sum(f(a)) FROM t")
    except KeyboardInterrupt:
        return one.sql("SELECT count(*) FROM t").scalar(), 1_000_000
    return "no interrupt", None


class Lingers:
    """Keeps the interpreter in its tear-down for a while: long enough for threads to come back."""

    def __del__(self, sleep=time.sleep):
        sleep(0.3)


def exits_while_a_query_runs():
    # A race, which a single run often survives: eight of them, each in an interpreter of its own.
    ends = [
        subprocess.run([sys.executable, __file__], stderr=subprocess.DEVNULL, timeout=50).returncode
        for _ in range(8)
    ]
    return ends, [0] * 8


def exit_once():
    started = threading.Event()

    def quick(a):
        started.set()
        return a

    ungil.create_function("f", quick, [INT64], INT64)
    one = engine(threads=4, a=list(range(2_000_000)))
    # A row a block: the threads spend their time in attaching, which is what must be refused.
    run = lambda: one.sql("SELECT sum(f(a)) FROM t", block_rows=1)
    threading.Thread(target=run, daemon=True).start()
    started.wait()
    globals()["lingers"] = Lingers()


def stress():
    """Queries of all kinds at once, functions that come and go, errors in the middle."""
    numbers = list(range(5000))

    def work(index):
        own = f"stress{index}"
        ungil.create_function(own, lambda v: v + index, [INT64], INT64, replace=True)
        one = ungil.Engine(threads=2, block_rows=64)
        one.register("t", pa.table({"v": numbers}))
        total = one.sql(f"SELECT sum({own}(v)) FROM t").scalar()
        assert total == sum(numbers) + index * len(numbers), total
        ungil.create_function(own, lambda v: 1 // (v - 777), [INT64], INT64, replace=True)
        try:
            one.sql(f"SELECT {own}(v) FROM t")
        except ungil.FunctionError as error:
            assert error.row == 777, error
        else:
            raise AssertionError("nothing failed")
        ungil.drop_function(own)

    return _faults.storm(work)


if __name__ == "__main__":
    exit_once()
