import threading

import _faults
import exercise

THREADS, EACH = 8, 50_000


def each_ticket_once():
    def work():
        return [exercise.take() for _ in range(EACH)]

    taken = [ticket for tickets in _faults.together(THREADS, work) for ticket in tickets]
    return len(set(taken)), THREADS * EACH


def starts_at_one():
    first = exercise.take()
    seen = []
    other = threading.Thread(target=lambda: seen.append(exercise.take()))
    other.start()
    other.join()
    return [first, *seen, exercise.take()], [1, 2, 3]
