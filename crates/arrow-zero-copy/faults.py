"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends."""

import atexit
import gc
import mmap
import struct
import tempfile
import threading
import weakref

import twin
from ungil import _faults
from ungil._ungil import arrow_zero_copy as lesson


class Mapping(bytearray):
    """Memory that can be watched: bytearrays cannot be referred to weakly, their subclasses can."""


def addresses(array):
    validity, offsets, data = array.buffers()
    place = lambda buffer: buffer.address if buffer is not None else 0  # noqa: E731
    return place(validity), place(offsets), place(data), len(array)


def large(values):
    import pyarrow

    return pyarrow.array(values, pyarrow.large_string())


def before_count(array, needle):
    return lesson.before_read(*addresses(array), needle.encode())[1]


def unmapped():
    """A column over a mapping of a file: with the last reference to it, its pages go."""
    import pyarrow

    text = b"abcdefgh" * 100_000
    with tempfile.TemporaryFile() as file:
        file.write(struct.pack("<100001q", *range(0, 800_001, 8)) + text)
        file.flush()
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    buffer = pyarrow.py_buffer(pages)
    parts = [None, buffer.slice(0, 800_008), buffer.slice(800_008)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), 100_000, parts)


def released_too_early():
    array = unmapped()
    where = addresses(array)
    del array
    gc.collect()
    return lesson.before_read(*where, b"fgh"), (800_000, 100_000)


def offset_ignored():
    array = large([f"row {i}" for i in range(100)])[90:]
    return before_count(array, "row 9"), 10


def null_slot_matches():
    """A null whose slot has bytes, as a mask over a whole column leaves it."""
    import pyarrow

    whole = large(["has the needle", "no", "has the needle"])
    _, offsets, data = whole.buffers()
    masked = pyarrow.Array.from_buffers(whole.type, 3, [pyarrow.py_buffer(b"\x06"), offsets, data])
    return before_count(masked, "needle"), 1


def needle_across_rows():
    return before_count(large(["xxnee", "dlexx"]), "needle"), 0


def chunk_without_offsets():
    """What pyarrow calls valid: a chunk without rows, and without an offsets buffer."""
    import pyarrow

    empty = pyarrow.Array.from_buffers(pyarrow.large_string(), 0, [None, None, pyarrow.py_buffer(b"")])
    empty.validate(full=True)
    return lesson.before_read(*addresses(empty), b"x"), (0, 0)


def cpp_released_too_early():
    array = unmapped()
    where = addresses(array)
    del array
    gc.collect()
    return twin.arrow_zero_copy.before_length(where[1], where[3]), 800_000


def texts(column):
    return [None if row is None else row.decode() for row in lesson.Strings(column)]


def columns():
    """The same kinds of column in each layout, and what is in them."""
    import pandas
    import pyarrow

    values = ["a", "", None, "Zürich", "x" * 13, "🛫 flight", None, "y" * 200, "\0", "end"]
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        array = pyarrow.array(values, kind)
        yield array, values
        yield pyarrow.chunked_array([array[:3], array[:0], array[3:], array[2:2]]), values
        for start in range(10):
            yield array[start:], values[start:]
            yield array[start : start + 1], values[start : start + 1]
        yield array[3:6], values[3:6]  # a validity buffer without a null in it
        yield pyarrow.array([], kind), []
        yield pyarrow.array([None] * 9, kind), [None] * 9
        yield pyarrow.chunked_array([], kind), []
        yield pandas.Series(array, dtype=pandas.ArrowDtype(kind)), values
    empty = pyarrow.Array.from_buffers(pyarrow.large_string(), 0, [None, None, pyarrow.py_buffer(b"")])
    rows = large(["one", "two"])
    yield pyarrow.chunked_array([empty, rows, empty, rows, empty]), ["one", "two"] * 2
    series = pandas.Series(values)
    assert str(series.dtype) == "str"
    yield series, values
    yield series[2:7], values[2:7]
    yield pandas.concat([series, series[:0], series]), values * 2
    yield pandas.Series(values, dtype="string[pyarrow]"), values
    yield series.to_frame("s")["s"], values


def every_layout():
    for column, values in columns():
        assert texts(column) == values, column
        strings = lesson.Strings(column)
        there = [value for value in values if value is not None]
        assert len(strings) == len(values)
        for threads in (1, 2, 8):
            assert strings.code_points(threads) == sum(map(len, there))
            for needle in ("", "a", "ü", "xx", "y" * 200, "flight", "\0", "ende"):
                assert strings.count(needle, threads) == sum(needle in value for value in there)


def bits_and_blocks():
    """Nulls around the borders of bytes, chunks inside of blocks, blocks inside of chunks."""
    import pyarrow

    for length in (*range(1, 66), lesson.BLOCK - 1, lesson.BLOCK, lesson.BLOCK + 1, 3 * lesson.BLOCK + 7):
        values = [None if i % 5 == length % 5 else f"{i} needle" if i % 3 else f"n{i}" for i in range(length)]
        expected = sum("needle" in value for value in values if value is not None)
        array = large(values)
        for cut in {0, 1, length // 2, length - 1}:
            column = pyarrow.chunked_array([array[:cut], array[cut:]])
            assert lesson.Strings(column).count("needle", 2) == expected
    dense = [f"need{'le' * (i % 2)}" for i in range(3 * lesson.BLOCK)]
    return lesson.Strings(large(dense)).count("needle", 2), len(dense) // 2


def befores_after():
    """What the before got wrong."""
    import pyarrow

    array = large([f"row {i}" for i in range(100)])[90:]
    assert lesson.Strings(array).count("row 9") == 10
    whole = large(["has the needle", "no", "has the needle"])
    _, offsets, data = whole.buffers()
    masked = pyarrow.Array.from_buffers(whole.type, 3, [pyarrow.py_buffer(b"\x06"), offsets, data])
    assert lesson.Strings(masked).count("needle") == 1
    assert lesson.Strings(large(["xxnee", "dlexx", "needneedle"])).count("needle") == 1
    array = unmapped()
    strings = lesson.Strings(array)
    del array
    gc.collect()
    assert strings.count("fgh") == 100_000
    return twin.arrow_zero_copy.after_length(unmapped()), 800_000


def refused_before_it_starts():
    """Columns that lie about themselves, and what is no column of strings."""
    import pandas
    import pyarrow

    def made(kind, code, *offsets):
        # pyarrow looks at both ends: so the offsets are right when it looks, and wrong afterwards.
        memory = bytearray(struct.pack(f"<{len(offsets)}{code}", *range(len(offsets))))
        parts = [None, pyarrow.py_buffer(memory), pyarrow.py_buffer(b"abcdef")]
        array = pyarrow.Array.from_buffers(kind, len(offsets) - 1, parts)
        memory[:] = struct.pack(f"<{len(offsets)}{code}", *offsets)
        return array

    small, big = pyarrow.string(), pyarrow.large_string()
    bad = [
        (made(small, "i", 0, 4, 2, 6), 1),
        (made(big, "q", 0, 4, 2, 6), 1),
        (made(big, "q", -1, 2, 4), 0),
        (made(small, "i", 0, 2, 4, 3), 2),
    ]
    view = struct.pack("<iIii", 20, 0, 7, 0)
    parts = [None, pyarrow.py_buffer(view), pyarrow.py_buffer(b"x" * 30)]
    bad.append((pyarrow.Array.from_buffers(pyarrow.string_view(), 1, parts), 0))
    view = struct.pack("<iIii", 20, 0, 0, 11)
    parts = [None, pyarrow.py_buffer(view), pyarrow.py_buffer(b"x" * 30)]
    bad.append((pyarrow.Array.from_buffers(pyarrow.string_view(), 1, parts), 0))
    for array, row in bad:
        try:
            lesson.Strings(array)
        except ValueError as error:
            assert f"row {row}: its offsets lead outside" in str(error), error
        else:
            return "taken", array.type
    good = large(["one", "two"])
    try:
        lesson.Strings(pyarrow.chunked_array([good, made(big, "q", 0, 4, 2)]))
    except ValueError as error:
        assert "row 3: " in str(error), error
    for wrong, message in (
        (pyarrow.array([1, 2]), "format is 'l', not a string"),
        (pandas.Series([1.5]), "not a string"),
        (["a list"], "list exports no Arrow data"),
        (pyarrow.table({"a": ["x"]}), "not a string"),
    ):
        try:
            lesson.Strings(wrong)
        except TypeError as error:
            assert message in str(error).replace('"', "'"), error
        else:
            return "taken", wrong


def watched(values):
    """A column over memory whose end can be seen."""
    import pyarrow

    source = large(values)
    _, offsets, data = source.buffers()
    memory = Mapping(data.to_pybytes())
    array = pyarrow.Array.from_buffers(source.type, len(source), [None, offsets, pyarrow.py_buffer(memory)])
    ends = []
    return array, weakref.ref(memory, ends.append), ends


def released_once():
    """After a scan, an error, an abandoned iterator, a drop on a thread: once, and not before."""
    import pyarrow

    def scan(array):
        lesson.Strings(array).code_points()

    def fail(array):
        try:
            lesson.Strings(pyarrow.chunked_array([array, array])).containing("\udcff")
        except UnicodeError:
            pass

    def abandon(array):
        rows = iter(lesson.Strings(array))
        next(rows), next(rows)

    def on_a_thread(array):
        thread = threading.Thread(target=scan, args=(array,))
        thread.start()
        thread.join()

    def invalid(array):
        offsets = bytearray(struct.pack("<2q", 2, 4))
        parts = [None, pyarrow.py_buffer(offsets), array.buffers()[2]]
        bad = pyarrow.Array.from_buffers(pyarrow.large_string(), 1, parts)
        offsets[:] = struct.pack("<2q", 4, 2)
        try:
            lesson.Strings(pyarrow.chunked_array([array, bad]))
        except ValueError:
            pass

    for use in (scan, fail, abandon, on_a_thread, invalid):
        array, alive, ends = watched(["one", "two", "three"])
        use(array)
        gc.collect()
        assert alive() is not None, use
        strings = lesson.Strings(array)
        del array
        gc.collect()
        assert alive() is not None and strings.code_points() == 11, use
        rows = iter(strings)
        del strings
        assert next(rows) == b"one"
        del rows
        gc.collect()
        assert (alive(), len(ends)) == (None, 1), use


def exits_with_a_column():
    """A column that is still there when the interpreter ends, and one that goes in atexit."""
    global kept, late
    kept, _, _ = watched(["one", "two"])
    kept = lesson.Strings(kept)
    late = lesson.Strings(large(["three"]))
    atexit.register(lambda: globals().pop("late"))
    threading.Thread(target=lambda: kept.code_points(8), daemon=True).start()
    return kept.code_points(), 6


def never_writes():
    """A file mapped for reading alone: a write to it would be a SIGSEGV; and its bytes are the same."""
    array = unmapped()
    strings = lesson.Strings(array)
    before = bytes(array.buffers()[2])
    assert strings.count("abc") == 100_000 and strings.code_points() == 800_000
    list(strings)
    return bytes(array.buffers()[2]) == before, True


def leaves_as_arrow():
    import pandas
    import pyarrow

    column = pandas.Series(["JFK LAX", None, "LGA ATL", "LAX", "Zürich LAX"])
    got = lesson.Strings(column).containing("LAX")
    array = pyarrow.array(got)
    assert array.type == pyarrow.large_string()
    series = pandas.Series(array, dtype="str")
    assert str(series.dtype) == "str"
    # No copy: pandas looks at the very bytes that the scan wrote.
    assert series.array._pa_array.chunk(0).buffers()[2].address == array.buffers()[2].address
    return series.tolist(), ["JFK LAX", "LAX", "Zürich LAX"]


def text_is_written_meanwhile():
    """Against the demand, somebody writes to the text: some answer, and no read outside."""
    import pyarrow

    memory = Mapping(b"needle" * 10_000)
    offsets = pyarrow.py_buffer(struct.pack("<10001q", *range(0, 60_001, 6)))
    parts = [None, offsets, pyarrow.py_buffer(memory)]
    strings = lesson.Strings(pyarrow.Array.from_buffers(pyarrow.large_string(), 10_000, parts))
    stop = threading.Event()

    def write():
        while not stop.is_set():
            memory[:6000] = b"xxxxxx" * 1000
            memory[:6000] = b"needle" * 1000

    writer = threading.Thread(target=write)
    writer.start()
    counts = [strings.count("needle", 2) for _ in range(200)]
    stop.set()
    writer.join()
    return all(9000 <= count <= 10_000 for count in counts), True


def stress():
    import pyarrow

    values = [None if i % 7 == 0 else f"{i} needle ü" if i % 3 else "n" for i in range(2000)]
    array = pyarrow.chunked_array([large(values[:700]), large(values[700:])])
    expected = sum("needle" in value for value in values if value is not None)

    def work(index):
        strings = lesson.Strings(array)
        assert strings.count("needle", 1 + index % 2) == expected
        rows = iter(strings)
        next(rows)
        assert pyarrow.array(strings.containing("needle")).to_pylist()[0] == "1 needle ü"

    return _faults.storm(work)
