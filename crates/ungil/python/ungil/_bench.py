"""The measured process of a bench: `python -m ungil._bench <lesson> <rows> <rows for slow cases> <data folder>`."""

import sys

from . import _ungil, _workloads


def main():
    lesson, rows, slow_rows, data = sys.argv[1:]
    getattr(_ungil, lesson.replace("-", "_")).serve(
        _workloads, int(rows), int(slow_rows), data
    )


if __name__ == "__main__":
    main()
