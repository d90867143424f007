import gc
import time

import copied

copied.wait(gc.collect)
copied.wait(lambda: time.sleep(0.1))
copied.block(True)
try:
    copied.block(False)
except BaseException as error:  # PanicException
    text = str(error)
    assert 'would block on "the lock" while attached; holder has it. Detach first' in text, text
else:
    raise AssertionError("blocked attached, and nobody said so")
