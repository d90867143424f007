"""`--json` as a program outside reads it: one object a line, nothing else on standard output."""

import json
import os
import subprocess
import sys

import pytest

from conftest import FREE_THREADED

BUILD = f"3.{sys.version_info.minor}" + "t" * FREE_THREADED
XTASK = os.environ.get("UNGIL_XTASK")

pytestmark = [
    pytest.mark.skipif(not XTASK, reason="cargo xtask test says where the tool is"),
    # A child process that runs children; once is enough.
    pytest.mark.parallel_threads(1),
]


def lines(*words):
    told = subprocess.run([XTASK, *words, "--json"], capture_output=True, text=True, timeout=280)
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


def test_faults():
    told = lines("faults", "gil-declaration", "--builds", BUILD)
    keys = {"lesson", "state", "variant", "build", "expected", "observed", "reason", "ok"}
    assert all(keys <= line.keys() for line in told)
    assert {line["build"] for line in told} == {BUILD}
    assert {line["state"] for line in told} == {"before", "after"}
    assert all(line["ok"] and line["observed"] == line["expected"] for line in told)


@pytest.mark.skipif(FREE_THREADED, reason="the models need no interpreter: once is enough")
def test_models_and_mutants():
    keys = {"lesson", "build", "expected", "outcome", "seconds", "ok"}
    models = lines("model", "import-cache")
    assert all(keys <= line.keys() and ("state" in line) != ("mutant" in line) for line in models)
    assert {line["build"] for line in models} == {"3.14", "3.14t"}
    mutants = lines("model", "import-cache", "--mutants")
    assert mutants and all("mutant" in line for line in mutants)
    caught = {line["variant"] for line in mutants if line["outcome"] != "passes"}
    assert caught == {line["variant"] for line in mutants}


@pytest.mark.skipif(not FREE_THREADED, reason="ThreadSanitizer runs on the free-threaded build")
def test_tsan():
    told = lines("tsan", "import-cache")
    assert [line["state"] for line in told] == ["before", "after"]
    assert told[0]["expected"] in told[0]["observed"] and told[1]["observed"] == []


def test_bench():
    # One round of a lesson that is quick to measure: the fields, not the numbers.
    told = lines("bench", "import-cache", "--smoke", "--builds", BUILD)
    assert told
    for line in told:
        assert line["lesson"] == "import-cache" and line["build"] == BUILD
        assert line["gil_enabled"] == [not FREE_THREADED] * 2
        low, high = line["spread"]
        assert 0 < low <= line["ns_per_row"] <= high and line["rows_per_s"] > 0
        assert line["rounds"] >= 1 and line["threads"] >= 1 and line["variant"]


def test_an_unknown_lesson_is_an_error_that_lists_the_known_ones():
    told = subprocess.run([XTASK, "faults", "no-such"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 1 and told.stdout == ""
    assert 'no lesson "no-such"; there are: ' in told.stderr and "import-cache" in told.stderr
