"""What each variant of the lesson does, one function a run: see lesson.toml for how each ends.

The owner's Python decides which build hangs. `hands_over` gives the GIL up and asks for nothing;
`collects` keeps it and asks for a stop-the-world.
"""

import gc
import random
import sys
import tempfile
import threading
import time
import pathlib

import twin
from ungil import _faults
from ungil._ungil import detach_before_block as lesson
from ungil._ungil import import_cache

WAITS = ("once", "lock", "channel", "join")


def hands_over():
    time.sleep(0.2)
    sum(range(1000))


def collects():
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
    gc.collect()


def before(wait, owner):
    if owner is collects:
        # Python code hands the GIL over when its switch interval is up; this owner never does.
        sys.setswitchinterval(1000)
    lesson.watch(2.0)
    lesson.before(wait, owner)


def once_hands_over():
    before("once", hands_over)


def once_collects():
    before("once", collects)


def lock_hands_over():
    before("lock", hands_over)


def lock_collects():
    before("lock", collects)


def channel_hands_over():
    before("channel", hands_over)


def channel_collects():
    before("channel", collects)


def join_hands_over():
    before("join", hands_over)


def join_collects():
    before("join", collects)


def cpp_once_hands_over():
    twin.detach_before_block.before("once", "hands_over")


def cpp_once_collects():
    twin.detach_before_block.before("once", "collects")


def cpp_join_collects():
    twin.detach_before_block.before("join", "collects")


def detached():
    """Every wait, every owner."""
    for wait in WAITS:
        lesson.after(wait, hands_over)
        lesson.after(wait, lambda: gc.collect())


def cpp_detached():
    for wait in WAITS:
        for owner in ("hands_over", "collects"):
            twin.detach_before_block.after(wait, owner)


def checked_lock():
    """A debug build says at the blocking call what a release build leaves to the watchdog."""
    told, debug = lesson.checked()
    expected = (
        'main would block on "the registry\'s lock" while attached; holder has it. Detach first: '
        "py.detach(..), or MutexExt::lock_py_attached"
    )
    # The extension is built in release mode, where the lock only blocks.
    return told, expected if debug else ""


def cold_start(cache):
    """A fresh process, 32 threads, small blocks, a thread that collects already at work."""
    source = "import time\nfor _ in range(20): time.sleep(0.005)\nvalue = 7\n"
    folder = tempfile.mkdtemp()
    pathlib.Path(folder, "cold.py").write_text(source)
    sys.path.insert(0, folder)
    stop = threading.Event()

    def storm():
        # Boxed in time: a deadlock, once formed, sustains itself, and a storm that never ends can
        # starve threads that attach, which would look like one.
        end = time.monotonic() + 10
        while not stop.is_set() and time.monotonic() < end:
            gc.collect()
            time.sleep(random.random() / 1000)

    collector = threading.Thread(target=storm)
    collector.start()
    time.sleep(0.05)
    one = cache("cold", "value")
    results = []

    def scan(blocks):
        for _ in range(blocks):
            results.append(one.get())

    threads = [threading.Thread(target=scan, args=(4,)) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    collector.join()
    return sum(results), 7 * 4 * 32


def cold_start_attached():
    return cold_start(import_cache.AttachedOnce)


def cold_start_detached():
    return cold_start(import_cache.Imported)


def stress():
    def work(index):
        wait = WAITS[index % 4]
        lesson.after(wait, gc.collect)
        lesson.after(wait, lambda: sum(range(100)))

    return _faults.storm(work)
