"""`python -m ungil.doctor`: the program `ungil-doctor`, asked about this interpreter's environment."""

import os
import sys

from ungil._ungil import doctor


def main():
    # Without a target: the environment that is running this.
    os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
    # A flag of this interpreter counts like the variable.
    if "gil" in sys._xoptions:
        os.environ["PYTHON_GIL"] = str(sys._xoptions["gil"])
    return doctor(["ungil-doctor", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
