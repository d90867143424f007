"""Every Python block of the book and the README runs as it stands, in a fresh interpreter."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "book/src").glob("*.md")), ROOT / "README.md"]
SNIPPETS = [
    (f"{page.name}:{page.read_text()[: found.start()].count(chr(10)) + 1}", found[1])
    for page in PAGES
    for found in re.finditer(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
]


def test_there_are_snippets():
    assert len(SNIPPETS) >= 5


@pytest.mark.parametrize("code", [code for _, code in SNIPPETS], ids=[place for place, _ in SNIPPETS])
def test_snippet(code):
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert told.returncode == 0, told.stderr
