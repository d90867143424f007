"""The functions that the benches run, in a module of its own.

Imported, not in the main script: that is where functions live in real programs, and where the
free-threaded build needs a .pyc for its constants to be immortal.
"""


def CONSTANT_PROBE():
    return 1234567.5


def add(a, b):
    return a + b


def add_text(a, b):
    return int(a) + int(b)


def add_arrays(a, b):
    import pyarrow.compute

    return pyarrow.compute.add(a, b)


def speed(distance, air_time):
    return distance / (air_time / 60)


def speed_text(distance, air_time):
    return float(distance) / (float(air_time) / 60)


def speed_arrays(distance, air_time):
    import pyarrow.compute as compute

    return compute.divide(distance, compute.divide(air_time, 60.0))


def python_loop(function, left, right):
    total = 0
    for a, b in zip(left, right):
        total += function(a, b)
    return total


def second(a, b):
    return b


def times(value, rate):
    return value * rate


def decorated_speed():
    """A function as decorators make them: nested, with the function in a closure."""
    import functools

    @functools.wraps(speed)
    def wrapper(distance, air_time):
        return speed_of(distance, air_time)

    speed_of = speed
    return wrapper
