from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.postprocess import reply
from pytest_evalplug.evaluation.postprocess.text import fold

SPACES = st.sampled_from([" ", "\n", "\t", "\r", "\x0b", "\u3000", "\u1680", "a."])


@given(st.lists(SPACES | st.text()))
def test_white_space_within_a_line_is_one_space(parts: list[str]) -> None:
    text = "".join(parts)
    for found in reply.answer_texts(text):
        assert found == reply._SPACES.sub(" ", found)
        assert found in reply._SPACES.sub(" ", fold(text))
