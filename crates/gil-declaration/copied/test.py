import sys
import threading

import gil_guard

watching = gil_guard.install()
assert watching == (not sys._is_gil_enabled())

import copied

assert watching == (not sys._is_gil_enabled())
threads = [threading.Thread(target=lambda: [copied.count() for _ in range(1000)]) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert copied.count() == 8001
gil_guard.remove()
