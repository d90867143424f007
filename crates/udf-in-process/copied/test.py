import copied
import pyarrow as pa

halves = copied.call(lambda value: value + 1, pa.array([1, None, 3, 4, 5]))
assert [value for half in halves for value in pa.array(half).to_pylist()] == [2, None, 4, 5, 6]
try:
    copied.call(lambda value: 1 / value, pa.array([1, 1, 1, 0]))
except Exception as error:
    assert "f: row 0: returned 1.0 (float), which is not an int64" in str(error), error
else:
    raise AssertionError("a float was taken for an int64")
