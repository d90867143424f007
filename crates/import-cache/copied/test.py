import datetime
import threading

import copied

found = []
threads = [threading.Thread(target=lambda: found.append(copied.date())) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == [datetime.date] * 8, found
for _ in range(2):
    try:
        copied.absent()
    except ModuleNotFoundError as error:
        assert error.name == "no_such_module"
    else:
        raise AssertionError("found a module that is not there")
