"""One function in many shapes, for lesson shared-refcounts: `KINDS` makes each anew.

Imported from a module, so that a .pyc makes its constants immortal (see _workloads.py).
"""

import functools
import itertools
import operator
import random
import threading


def add(a, b):
    return a + b


def nested():
    def add_nested(a, b):
        return a + b

    return add_nested


def closure():
    # An object of a class of its own, which the function reads for each row.
    offset = Offset()

    def add_offset(a, b):
        return a + b + offset.value

    return add_offset


def closure_over_int():
    offset = int("1000000")

    def add_offset(a, b):
        return a + b + offset

    return add_offset


class Offset:
    value = 7


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Adder:
    def __call__(self, a, b):
        return a + b

    def method(self, a, b):
        return a + b


TABLE = [7, 8, 9]
RATES = {"a": 7}
COUNTER = itertools.count()


def reads_a_list(a, b):
    return a + b + TABLE[1]


def reads_a_dict(a, b):
    return a + b + RATES["a"]


def counts(a, b):
    next(COUNTER)
    return a + b


def draws(a, b):
    return a + b + random.random()


KINDS = {
    "module-function": lambda: add,
    "lambda": lambda: _lambda,
    "c-function": lambda: operator.add,
    "partial": lambda: functools.partial(add),
    "nested": nested,
    "closure": closure,
    "closure-over-int": closure_over_int,
    "decorated": lambda: decorator(add),
    "bound-method": lambda: Adder().method,
    "instance": lambda: Adder(),
    "reads-a-list": lambda: reads_a_list,
    "reads-a-dict": lambda: reads_a_dict,
    "counts": lambda: counts,
    "draws": lambda: draws,
}

_lambda = lambda a, b: a + b  # noqa: E731

# What share() cannot mend, written so that threads do not meet.
LOCAL = threading.local()
FROZEN = (7, 8, 9)


def closure_default():
    """The number as a constant of the code, where a .pyc makes it immortal, and not in a cell."""

    def add_offset(a, b):
        return a + b + 1000000

    return add_offset


def reads_a_tuple(a, b):
    return a + b + FROZEN[1]


def reads_its_own_dict(a, b):
    try:
        rates = LOCAL.rates
    except AttributeError:
        rates = LOCAL.rates = dict(RATES)
    return a + b + rates["a"]


def counts_for_itself(a, b):
    try:
        counter = LOCAL.counter
    except AttributeError:
        counter = LOCAL.counter = itertools.count()
    next(counter)
    return a + b


def draws_for_itself(a, b):
    try:
        draw = LOCAL.draw
    except AttributeError:
        draw = LOCAL.draw = random.Random().random
    return a + b + draw()


CURES = {
    "closure-over-int": closure_default,
    "reads-a-list": lambda: reads_a_tuple,
    "reads-a-dict": lambda: reads_its_own_dict,
    "counts": lambda: counts_for_itself,
    "draws": lambda: draws_for_itself,
}
