import copied

column = [row if row % 3 else None for row in range(200_000)]
expected = sum(row or 0 for row in column), column.count(None)
assert [copied.total(column, threads) for threads in (1, 2, 8)] == [expected] * 3
assert copied.words({1: "a", 2: 7}) == (["a", "7"], 2)
for wrong, error in (True, TypeError), (2**63, OverflowError):
    try:
        copied.total([1, wrong], 2)
    except error as raised:
        assert "row 1: " in str(raised)
    else:
        raise AssertionError("not refused")
