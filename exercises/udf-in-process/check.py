import exercise


def maps():
    seen = []

    def function(a):
        seen.append(a)
        return a * 2

    return (exercise.map_block(function, [3, 1, 2], 0), seen), ([6, 2, 4], [3, 1, 2])


def null_is_skipped():
    seen = []

    def function(a):
        seen.append(a)
        return 1

    return (exercise.map_block(function, [None, 5, None], 0), seen), ([None, 1, None], [5])


def names_row_and_value():
    for result in ["seven", 1.5, 2**63]:
        try:
            exercise.map_block(lambda a: result if a == 2 else 0, [1, 2], 65_536)
        except ValueError as error:
            told = str(error)
            assert "65537" in told and repr(result) in told, f"{told}: expected row 65537 and {result!r}"
        else:
            raise AssertionError(f"expected an error for {result!r}")


def keeps_the_cause():
    try:
        exercise.map_block(lambda a: 1 // a, [1, 0], 65_536)
    except ValueError as error:
        return (type(error.__cause__), "65537" in str(error)), (ZeroDivisionError, True)
    raise AssertionError("the function's exception was lost")
