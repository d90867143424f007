import pyarrow

import copied

values = ["x", None, "Zürich", "", "xx", "y" * 20]
for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
    array = pyarrow.array(values, kind)
    assert copied.look(pyarrow.chunked_array([array, array[:2]])) == (6, 30, 3), kind
try:
    copied.look(pyarrow.array([1]))
except TypeError as error:
    assert "not a string" in str(error)
else:
    raise AssertionError("not refused")
