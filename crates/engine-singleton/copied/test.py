import gc
import os
import threading
import warnings

import copied

counts = []
threads = [threading.Thread(target=lambda: counts.append(copied.query(gc.collect))) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(counts) == list(range(1, 9)), counts

warnings.simplefilter("ignore", DeprecationWarning)
pid = os.fork()
if pid == 0:
    try:
        copied.query(gc.collect)
    except RuntimeError as error:
        os._exit(7 if "forked" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
