"""The release gate: each build of CPython gets a wheel from `dist`, and imports it with its GIL off.

    python ci/gate.py dist fastlines 3.14=python3.14 3.14t=python3.14t ...

Ends with status 0 if every build named here got a wheel and imported it, 1 if one did not.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

# ANCHOR: check
CHECK = """
import sys, sysconfig, importlib
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
assert not free or not sys._is_gil_enabled(), "the GIL is on before the import"
module = importlib.import_module(sys.argv[1])
assert not free or not sys._is_gil_enabled(), "the import turned the GIL on"
print(module.__file__)
"""
# ANCHOR_END: check


def check(dist: pathlib.Path, name: str, python: str) -> str:
    # PYTHON_GIL would hide what is asked here: forced off is not off.
    env = {key: value for key, value in os.environ.items() if key != "PYTHON_GIL"}
    with tempfile.TemporaryDirectory() as folder:
        install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--only-binary=:all:"]
        install += ["--find-links", str(dist), "--target", folder, name]
        subprocess.run([python, *install], check=True, env=env, timeout=300)
        env["PYTHONPATH"] = folder
        command = [python, "-W", "error", "-c", CHECK, name]
        done = subprocess.run(
            command, check=True, env=env, timeout=300, stdout=subprocess.PIPE, text=True
        )
        return done.stdout.strip()


def main() -> int:
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    dist, name, builds = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    failed = 0
    for build in builds:
        version, _, python = build.partition("=")
        try:
            print(f"{version}: {check(dist, name, python)}", flush=True)
        except (subprocess.SubprocessError, OSError) as error:
            failed += 1
            print(f"{version}: FAILED: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
