import threading

import copied

pool = copied.Pool(2)
local, made = threading.local(), []


def task(number):
    if not hasattr(local, "seen"):
        local.seen = True
        made.append(number)
    if number == 150:
        raise KeyError(number)


for _ in range(10):
    try:
        pool.run(200, task)
    except KeyError as error:
        assert error.args == (150,)
    else:
        raise AssertionError("a task's exception was lost")
assert 1 <= len(made) <= 2, made
pool.close()
try:
    pool.run(1, task)
except RuntimeError as error:
    assert str(error) == "the pool is closed"
# Left open on purpose: atexit closes it.
copied.Pool(2).run(4, lambda number: None)
