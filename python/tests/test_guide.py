import re

import pytest
from conftest import ROOT


def test_the_commands_of_the_guide_run_as_they_are_written():
    pytest.importorskip("gymnasium")
    page = (ROOT / "docs" / "guide" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 4
    names = {}
    for block in blocks:
        exec(compile(block, "docs/guide/python.md", "exec"), names)
