"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import enum
import random
import sys
import threading

import twin
from ungil import _faults
from ungil._ungil import string_fast_path as lesson


class Text(str):
    """A subclass: its characters lie elsewhere than in an exact str."""


class Name(enum.StrEnum):
    PLAIN = "plain"
    UMLAUT = "Ä"


def column():
    """One of each that can be told apart: layout, width, length, where its UTF-8 is."""
    kinds = ["ascii text", "Zürich", "Санкт", "🛫 flight", "a\0b", "é\0", "", "x", "é", "\x7f\x80", "\u07ff\u0800",
             "\uffff\U00010000", "\U0010ffff", "é" * 47, "é" * 48, "a" * 7, "a" * 8, "a" * 9, "a" * 15, "a" * 16,
             "a" * 17, "ж" * 1000, "🛫" * 1000, "北京市朝阳区", "жжж北жжжж中", "éé中" * 20, "ab" * 40 + "é", "é" + "ab" * 40]  # fmt: skip
    # `[:-1]`: strings of their own, which no other test has touched.
    made = [(text + ".")[:-1] for text in kinds]
    made += [Text(text) for text in kinds] + [Name.PLAIN, Name.UMLAUT, None]
    cached = [(text + "!")[:-1] for text in kinds]
    for text in cached:
        text.encode()
        hash(text)
        # PyUnicode_AsUTF8AndSize keeps what it made.
        lesson.before_encode([text])
    return made + cached


def rows(parts):
    offsets, data, validity = parts
    out = []
    for row in range(len(offsets) - 1):
        valid = validity is None or validity[row >> 3] >> (row & 7) & 1
        out.append(data[offsets[row] : offsets[row + 1]] if valid else None)
    assert offsets[0] == 0 and offsets[-1] == len(data)
    return out


def before_grows():
    """Each string that is not ASCII keeps the UTF-8 that was asked for, until it dies."""
    text = "Zürich" * 100
    size = sys.getsizeof(text)
    lesson.before_encode([text])
    return sys.getsizeof(text) - size, 0


def cpp_before_grows():
    text = "Göteborg" * 100
    size = sys.getsizeof(text)
    twin.string_fast_path.before_bytes([text])
    return sys.getsizeof(text) - size, 0


def before_names_no_row():
    try:
        lesson.before_encode(["fine", "lone \ud800"])
    except UnicodeEncodeError as error:
        return "row 1" in str(error), True


def every_kind():
    """Equal to str.encode, whichever way it is asked for, and back again."""
    strings = column()
    expected = [None if text is None else text.encode() for text in strings]
    for how in ("list", "owned", "bare"):
        parts = lesson.encode(strings, how)
        assert rows(parts) == expected, how
        offsets, data, validity = parts
        back = lesson.decode(offsets, data, validity)
        assert back == [None if text is None else str(text) for text in strings], how
    assert lesson.encode([], "list") == ([0], b"", None)
    assert lesson.encode([None] * 9, "bare")[0] == [0] * 10
    total = sum(len(text) for text in expected if text is not None)
    return twin.string_fast_path.after_bytes([text for text in strings if text is not None]), total


def blocks_around_a_byte():
    """Nulls at every place of a validity byte, at every length around one."""
    for length in (1, 7, 8, 9, 63, 64, 65):
        for null in range(length):
            strings = [None if row == null else f"{row}é" for row in range(length)]
            got = rows(lesson.encode(strings, "bare"))
            assert got == [None if text is None else text.encode() for text in strings]


def grows_nothing():
    """No string keeps anything of the direct path."""
    # "!": strings that nobody has asked for UTF-8.
    strings = [(text + "!")[:-1] for text in ("Zürich" * 50, "Санкт" * 50, "🛫" * 50, "ascii" * 50)]
    strings.append(Text("Zürich" * 50))
    sizes = [sys.getsizeof(text) for text in strings]
    for how in ("list", "owned", "bare"):
        lesson.encode(strings, how)
    return [sys.getsizeof(text) for text in strings], sizes


def surrogates():
    """A lone surrogate names its row or is replaced; two that look like a pair are two."""
    lone = ["fine", "half \ud83d", "\ude00", "\ud83d\ude00" + "x" * 60, Text("\udfff"), "🛫\ud800"]
    replaced = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in lone]
    replaced[3] = "\ufffd\ufffd" + "x" * 60
    for how in ("list", "owned", "bare"):
        got = [text.decode() for text in rows(lesson.encode(lone, how, "replace"))]
        assert got == replaced, (how, got)
        for row in range(1, len(lone)):
            try:
                lesson.encode(["ok"] * 70_000 + [lone[row]], how)
            except UnicodeError as error:
                text = str(error)
                assert "row 70000: " in text and repr(lone[row])[:40] in text, text
                assert "lone surrogate" in text
            else:
                return "nothing raised", lone[row]


def not_strings():
    for value in (1, 2.5, b"bytes", ["list"], object()):
        for how in ("list", "owned", "bare"):
            try:
                lesson.encode(["ok", None, value], how)
            except TypeError as error:
                assert f"row 2: {value!r} is of type {type(value).__name__}, not str" == str(error), error
            else:
                return "nothing raised", value


def some_rows():
    """A block of a list: its own rows, errors by the row of the list, no row that is not there."""
    strings = [f"é{row}" for row in range(100)]
    assert rows(lesson.encode_rows(strings, 40, 60)) == [text.encode() for text in strings[40:60]]
    assert lesson.encode_rows(strings, 100, 100) == ([0], b"", None)
    strings[50:52] = ["\ud800", 7]
    wrong = [((40, 60), UnicodeError, "row 50: "), ((51, 60), TypeError, "row 51: 7 is of type int")]
    wrong += [((90, 101), IndexError, "rows 90..101 of a list of 100")]
    for (start, end), kind, message in wrong:
        try:
            lesson.encode_rows(strings, start, end)
        except kind as error:
            assert message in str(error), error
        else:
            return "nothing raised", message


def beyond_2_gib():
    """More text than 32-bit offsets can address: an error that names the row, and none at 64 bits."""
    part = "x" * (1 << 20)
    try:
        lesson.small_bytes([part] * 2049)
    except OverflowError as error:
        assert "row 2047 ends at byte 2147483648, beyond the 2 GiB" in str(error), error
        return lesson.small_bytes([part] * 2047), 2047 << 20
    return "nothing raised", "OverflowError"


def encoded_meanwhile():
    """Readers of strings whose UTF-8 another thread makes at that moment."""
    for _ in range(30):
        strings = [f"Zürich {random.random()}" * 3 for _ in range(2000)]
        expected = [text.encode() for text in strings]
        barrier = threading.Barrier(3)
        found = []

        def read(how):
            barrier.wait()
            found.append(rows(lesson.encode(strings, how)) == expected)

        def write():
            barrier.wait()
            lesson.before_encode(strings)

        threads = [threading.Thread(target=read, args=(how,)) for how in ("bare", "list")]
        threads.append(threading.Thread(target=write))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [True, True], found


def list_changes_meanwhile():
    """A list that others change while it is read in place: each answer is of some state of it."""
    strings = [f"row {i} é" for i in range(5000)]
    stop = threading.Event()

    def change():
        while not stop.is_set():
            strings.pop()
            strings.append(f"row {len(strings)} é")
            strings[7] = "row 7 é"
            strings.extend(["more"] * 100)
            del strings[5000:]

    changers = [threading.Thread(target=change) for _ in range(2)]
    for changer in changers:
        changer.start()
    for _ in range(300):
        try:
            got = rows(lesson.encode(strings, "list"))
        except IndexError:
            continue  # It became shorter between the question for its length and the section.
        assert all(text == b"more" or text.startswith(b"row ") for text in got)
    stop.set()
    for changer in changers:
        changer.join()


def stress():
    strings = column()
    expected = [None if text is None else text.encode() for text in strings]

    def work(index):
        how = ("list", "owned", "bare")[index % 3]
        assert rows(lesson.encode(strings, how)) == expected
        fresh = [f"é{index}" * 3 for _ in range(50)]
        lesson.before_encode(fresh) if index % 2 else lesson.encode(fresh, how)

    return _faults.storm(work)
