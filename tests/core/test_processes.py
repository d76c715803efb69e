"""How processes end."""

import io

import pytest

from sce.core.processes import explain_end, last_line


@pytest.mark.parametrize(
    ("code", "said", "sentence"),
    [
        (-9, "traceback", "ended by SIGKILL, possibly out of memory"),
        (-200, "", "ended by signal 200"),
        (2, "", "ended with code 2"),
        (2, "x" * 1000, "x" * 300),
    ],
)
def test_the_end_of_a_process(code, said, sentence):
    """A signal counts for more than what was said; words are cut."""
    assert explain_end(code, said) == sentence


@pytest.mark.parametrize(
    ("text", "line"), [(b"", ""), (b"a\nb \n\n", "b"), (b"\xff\n", "\ufffd"), (b"x\n" * 9000 + b"y", "y")]
)
def test_the_last_line(text, line):
    """That is not empty, of however much."""
    assert last_line(io.BytesIO(text)) == line
