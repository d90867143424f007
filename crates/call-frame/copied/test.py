import copied


class Counter:
    def add(self, a, b):
        return a + b


assert copied.call(Counter().add, 1, 2) == 3
assert copied.call2(Counter().add, 1, 2) == 3
assert copied.call(max, *range(15)) == 14
for wrong in (lambda: copied.call(max, *range(16)), lambda: copied.call(len), lambda: copied.call2(len, 1, 2)):
    try:
        wrong()
    except TypeError:
        continue
    raise AssertionError("no TypeError")
