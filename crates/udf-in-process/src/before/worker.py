"""A pooled worker: reads "<rows>\\n" and that many lines, answers "ok\\n" and as many.

An exception is answered by "error <row> <text>\\n". Whatever the function prints goes to stderr, so
that it cannot be taken for a result.
"""

import os
import sys

source = os.fdopen(0, "rb", buffering=1 << 20, closefd=False)
answers = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
os.dup2(2, 1)
# The function must not read the rows, either.
sys.stdin = open(os.devnull)

UNESCAPE = {"t": "\t", "n": "\n", "r": "\r", "0": "\0", "b": "\b", "f": "\f"}
ESCAPE = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\b": "\\b", "\f": "\\f"}
)


def to_text(field):
    if "\\" not in field:
        return field
    out, letters = [], iter(field)
    for letter in letters:
        if letter == "\\":
            letter = next(letters, "\\")
            letter = UNESCAPE.get(letter, letter)
        out.append(letter)
    return "".join(out)


def from_int(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"returned {value!r}, which is not an int64")
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"returned {value!r}, which does not fit int64")
    return str(int(value))


def from_float(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"returned {value!r}, which is not a float64")
    return repr(float(value))


def from_bool(value):
    if not isinstance(value, bool):
        raise TypeError(f"returned {value!r}, which is not a bool")
    return "true" if value else "false"


def from_text(value):
    if not isinstance(value, str):
        raise TypeError(f"returned {value!r}, which is not a string")
    return value.translate(ESCAPE)


TO_VALUE = {"int64": int, "float64": float, "bool": "true".__eq__, "string": to_text}
FROM_VALUE = {"int64": from_int, "float64": from_float, "bool": from_bool, "string": from_text}


def answer(function, parameters, returns, lines):
    to_values = [TO_VALUE[name] for name in parameters]
    from_value = FROM_VALUE[returns]
    results = []
    for row, line in enumerate(lines):
        try:
            fields = line[:-1].decode().split("\t")
            if "\\N" in fields:
                results.append("\\N")
                continue
            value = function(*[to(field) for to, field in zip(to_values, fields)])
            results.append("\\N" if value is None else from_value(value))
            # Text that UTF-8 cannot carry is found here, at its row.
            results[-1].encode()
        except Exception as error:
            text = f"{type(error).__name__}: {error}".translate(ESCAPE)
            return f"error {row} {text}\n".encode(errors="backslashreplace")
    return ("ok\n" + "".join(result + "\n" for result in results)).encode()


def serve(function, parameters, returns):
    while header := source.readline():
        lines = [source.readline() for _ in range(int(header))]
        answers.write(answer(function, parameters, returns, lines))
        answers.flush()
