from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.postprocess.json_field import json_field


@pytest.mark.parametrize(
    ("reply", "field", "value"),
    [
        ('{"answer": "B"}', "answer", "B"),
        ('```json\n{\n  "answer": "B"\n}\n```', "answer", "B"),
        ('I think {x} so: {"answer": {"letter": "C", "p": 1.50}} ok?', "answer.letter", "C"),
        ('{"answer": {"p": 1.50}}', "answer.p", "1.50"),
        ('{"answer": "a } b { \\" c"}', "answer", 'a } b { " c'),
        ('{"answer": "A"} no, {"answer": "B"}', "answer", "B"),
        ('{"answer": "A"}\nand {"other": 1}', "answer", "A"),
        ('[{"answer": "A"}, {"answer": "B"}]', "answer", "B"),
        ('Use {" as a start: {"answer": "B"}', "answer", "B"),
        ('{"answer": "two\nlines"}', "answer", "two\nlines"),
        ('{"answer": ["A", "C"]}', "answer", "A, C"),
        ('{"answer": true}', "answer", "true"),
        ('{"answer": 12345678901234567890}', "answer", "12345678901234567890"),
        ('{"answer": 1e400}', "answer", "1e400"),
        (f'{{"answer": {"9" * 5000}}}', "answer", "9" * 5000),
        ('{"answer": null}', "answer", "?"),
        ('{"answer": {"a": 1}}', "answer", "?"),
        ('{"answer": "A"', "answer", "?"),
        ("{'answer': 'A'}", "answer", "?"),
        ('{"answer": "A"}', "answer.letter", "?"),
        ('<think>{"answer": "A"}', "answer", "?"),
        ("", "answer", "?"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "a", "?"),
    ],
)
def test_rules(reply: str, field: str, value: str) -> None:
    assert json_field(reply, field, invalid="?") == value


@given(st.text(max_size=20), st.text("{}\"':,[] \\an", max_size=20), st.sampled_from([None, 2]))
def test_an_object_is_found_in_any_text(value: str, around: str, indent: Any) -> None:
    reply = f"Sure.\n{json.dumps({'x': {'y': value}}, indent=indent)}\n{around}"
    assert json_field(reply, "x.y") == value.strip()
    json_field(around)
