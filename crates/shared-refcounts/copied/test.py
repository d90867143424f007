import functools
import sys

import copied

free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()


def closure():
    offset = [3]

    @functools.wraps(len)
    def add(a, b):
        return a + b + offset[0]

    return add


function = functools.partial(closure(), 1)
changed = copied.share(function)
# The partial, the function, its cell, the list.
assert changed == (4 if free_threaded else 0), changed
assert copied.share(function) == 0
assert function(2) == 6
assert copied.scaled(lambda v, rate: v * rate, 2.5, [1.0, 2.0]) == [2.5, 5.0]
