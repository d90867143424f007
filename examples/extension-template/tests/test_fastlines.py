import sys
import sysconfig
import threading

import pytest

import fastlines

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.fixture(autouse=True, scope="session")
def gil_stays_off():
    yield
    if FREE_THREADED:
        assert not sys._is_gil_enabled(), "something imported by the tests turned the GIL on"


def test_lines():
    counter = fastlines.Counter()
    assert counter.count(b"a\nb\n") == 2
    assert counter.count(b"") == 0
    assert counter.seen == 2


def test_lengths():
    texts = ["", "abc", "\0", "caf\xe9", "\u4e2d", "\U0001f600"]
    assert fastlines.utf8_lengths(texts) == [len(text.encode()) for text in texts]


def test_an_error_names_the_row_and_the_type():
    with pytest.raises(TypeError, match="row 1: expected str, got int"):
        fastlines.utf8_lengths(["a", 1])
    with pytest.raises(UnicodeEncodeError):
        fastlines.utf8_lengths(["\ud800"])


def test_no_line_is_lost_between_threads():
    counter = fastlines.Counter()
    ready = threading.Barrier(8)

    def work():
        ready.wait()
        for _ in range(1000):
            counter.count(b"\n")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.seen == 8000


def test_a_list_may_change_while_it_is_measured():
    texts = ["ab"] * 1000
    stop = threading.Event()

    def change():
        while not stop.is_set():
            texts.clear()
            texts.extend(["cd"] * 1000)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            assert set(fastlines.utf8_lengths(texts)) <= {2}
    finally:
        stop.set()
        thread.join()
