import copied

column = ["ascii", "Zürich", "Санкт", "🛫", "", None, "a\0b", "é" * 100]
assert copied.round_trip(column) == (column, 2 * len(column) + 1)
for wrong, kind in (["ok", 7], TypeError), (["ok", "\ud800"], UnicodeError):
    try:
        copied.round_trip(wrong)
    except kind as error:
        assert "row 1: " in str(error), error
    else:
        raise AssertionError("not refused")
