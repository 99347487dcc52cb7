"""Text that is made to be slow, for tests and for perf/postprocessors.py."""

from __future__ import annotations

from collections.abc import Iterator

HOSTILE = {
    "combining marks": "\u0315\u0300",
    "open boxes": "\\boxed{",
    "open tags": "<think>",
    "closing tags": "</think>",
    "answer tags": "<answer>",
    "spaced tags": "<answer   ",
    "channels": "<|channel|>final",
    "cues": "the answer is ",
    "cues with numbers": "#### 1 ",
    "correct answers": "The correct answer is ",
    "false groups": "1,22",
    "fractions": "1 1/",
    "spaces": " ",
    "spaces after a letter": "A                                               ",
    "lines": "\n",
    "letters": "A, ",
    "underscores": "'_",
    "groups": "1'000",
    "negations": "not that ",
    "brackets": "(",
    "dollars": "$",
    "formulas": "$x ",
    "displays": "\\[ ",
    "claimed displays": "the answer is \\[ x ",
    "fences": "```\n",
    "named fences": "```python\n",
    "ticks": "`",
    "open strings": '```\n"""\n',
    "quotes": '"',
    "escaped quotes": '\\"',
    "definitions": "def f(x):\n    return x\n",
    "imports": "import a\n",
    "sessions": ">>> x\n",
    "lines of code": "`def f) ",
    "prose": "Now def g(y) returns.\n   It is so.\n",
    "one long name": "a",
    "targets": "a, ",
    "objects": '{"',
    "nested objects": '{"a":',
    "nested lists": '{"a":[',
    "broken objects": '{"a": 1 ',
    "objects in strings": '{"a": "{',
}
"""What is repeated, by the kind of rule that it is aimed at."""


def hostile_texts(size: int) -> Iterator[tuple[str, str]]:
    """Yield a name and a text of ``size`` characters, one for each kind."""
    for name, unit in HOSTILE.items():
        yield name, (unit * (size // len(unit) + 1))[:size]
    for name, left, right in (
        ("closed objects", '{"a":', "}"),
        ("closed tags", "<answer>", "</answer>"),
        ("closed boxes", "\\boxed{", "}"),
        ("a letter far away", "A" + " " * 1000, "B."),
    ):
        count = size // len(left + right)
        yield name, left * count + right * count
