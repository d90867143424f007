import copied
import pandas

column = ["a", None, float("nan"), 1.5, pandas.NaT, "b", pandas.NA, 0, ""]
assert copied.null_rows(column) == [1, 2, 4, 6]
assert copied.null_rows([]) == []
try:
    copied.null_rows(7)
except TypeError:
    pass
else:
    raise AssertionError("scanned a number")
