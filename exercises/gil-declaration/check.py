import threading
import time

import _faults
import exercise

THREADS, EACH, SECONDS = 8, 50_000, 3


def each_ticket_once():
    """On a busy machine threads may follow one another for a while, so it tries again and again."""

    def work():
        return [exercise.take() for _ in range(EACH)]

    end = time.monotonic() + SECONDS
    given = 0
    while True:
        taken = [ticket for tickets in _faults.together(THREADS, work) for ticket in tickets]
        expected = list(range(given + 1, given + THREADS * EACH + 1))
        given += len(taken)
        if sorted(taken) != expected:
            return len(set(taken)), f"{len(taken)}, and none twice"
        if time.monotonic() > end:
            return None


def starts_at_one():
    first = exercise.take()
    seen = []
    other = threading.Thread(target=lambda: seen.append(exercise.take()))
    other.start()
    other.join()
    return [first, *seen, exercise.take()], [1, 2, 3]


def two_threads_take():
    """For ThreadSanitizer, which needs no luck: of the C++ form alone."""

    def work():
        return [exercise.take() for _ in range(1000)]

    taken = [ticket for tickets in _faults.together(2, work) for ticket in tickets]
    return len(set(taken)), 2000
