import sys

import exercise


def says_what_is_so():
    return exercise.gil_is_on(), sys._is_gil_enabled()


def sees_a_gil_that_was_turned_on():
    # PYTHON_GIL=1 is set for this run: see exercise.toml.
    assert sys._is_gil_enabled()
    return exercise.gil_is_on(), True
