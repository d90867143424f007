import threading

import copied


class Finalized:
    def __del__(self):
        copied.find("f")


refused = []


def register():
    try:
        copied.add("f", Finalized)
    except ValueError as error:
        refused.append(str(error))


threads = [threading.Thread(target=register) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert refused == ['a function "f" exists; remove it first'] * 7, refused
assert isinstance(copied.find("f"), Finalized)
assert copied.remove("f") and not copied.remove("f") and copied.find("f") is None
