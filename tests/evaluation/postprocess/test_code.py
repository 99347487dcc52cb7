from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.postprocess.code import code, extract_program

STUB = 'def f(x):\n    """Doc."""\n'
RUN = """
import io, json, sys
for program, call in json.load(sys.stdin):
    names = {"__name__": "__main__"}
    sys.stdin = io.StringIO()
    try:
        exec(program, names)
        print(json.dumps(repr(eval(call, names))))
    except BaseException as error:
        print(json.dumps("raised " + repr(error)))
"""


def results(programs: list[tuple[str, str]]) -> list[str]:
    """Return what each call gives after its program, or the error; all in another process."""
    run = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def check(*rows: tuple[str, str, str, str]) -> None:
    """Compare reply, prompt, call and result of each row; the function is always ``f``."""
    programs = [(extract_program(r, entry_point="f", prompt=p), call) for r, p, call, _ in rows]
    for found, (reply, _, _, expected) in zip(results(programs), rows, strict=True):
        assert found == expected, reply


def test_labelled_cases(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    rows = cases("code_extract")
    programs = [
        extract_program(row["input"], entry_point=row["entry_point"], prompt=row["prompt"])
        for row in rows
    ]
    found = results([(p, row["call"]) for p, row in zip(programs, rows, strict=True)])
    assert found == [row["expected_repr"] for row in rows]


def test_a_fence_may_look_odd() -> None:
    f = "def f(x):\n    return x"
    fence = "```"
    strings = f'```python\nT = """\n{fence}\ndef f(x): return 0\n{fence}\n"""\n{f} + len(T)\n```'
    check(
        (f"````markdown\n```python\n{f}\n```\n````", "", "f(3)", "3"),
        (f"```{{python}}\n{f}\n```", "", "f(3)", "3"),
        (f'``` python title="a.py"\n{f}\n```', "", "f(3)", "3"),
        (f"```{f}\n```", "", "f(3)", "3"),
        (f"```python\n{f}```\nText.", "", "f(3)", "3"),
        (f"```python\n{f}\n\n```python\nprint(f(1))\n```", "", "f(3)", "3"),
        (f"- ```python\n{textwrap.indent(f, '  ')}\n  ```", "", "f(3)", "3"),
        (f"~~~\n{f}\n\n{fence}\n~~~".replace(fence, '"""\n```\n"""'), "", "f(3)", "3"),
        (strings, "", "f(3)", "31"),
        (f"python\n{f}\n```\nDone", "Write f.\n```", "f(3)", "3"),
        (f"```text\n{f}\n```", "", "f(3)", "3"),
        (
            f"```js\nfunction f(x) {{}}\n```\n```\n{f}\n```\n```ruby\ndef f(x)\nend\n```",
            "",
            "f(3)",
            "3",
        ),
    )


def test_what_other_blocks_define_comes_along_if_needed() -> None:
    main = "```python\ndef f(x):\n    return h(x)\n```\n"
    helper = (
        "```python\nimport math\n\ndef h(x):\n    return math.floor(x)\n\nn = int(input())\n```\n"
    )
    check(
        (f"First:\n{helper}Then:\n{main}", "", "f(3.5)", "3"),
        (f"{main}with\n{helper}", "", "f(3.5)", "3"),
        ("def h(x):\n    return x + 1\n\nAnd now\n\ndef f(x):\n    return h(x)\n", "", "f(3)", "4"),
        ("    return h(x)\n\ndef h(x):\n    return -x\n\nassert False", STUB, "f(3)", "-3"),
    )


def test_a_body_continues_the_prompt() -> None:
    loop = "for i in range(3):\n{}x += i\n{}return x"
    check(
        (loop.format("        ", "    "), STUB, "f(3)", "6"),  # a stripped reply
        (loop.format("    ", ""), STUB, "f(3)", "6"),
        (loop.format("    ", "") + "\nThis adds i.", STUB, "f(3)", "6"),
        ("\ty = x\n\treturn y", STUB, "f(3)", "3"),
        ("Here it is:\n\n    return -x", STUB, "f(3)", "-3"),
        ("```python\nreturn x\n```", STUB, "f(3)", "3"),
        ("    return x\n\n\ndef f(x):\n    return 0", STUB, "f(3)", "3"),
        ("    return x\n```\nThat was it.", f"Complete:\n```python\n{STUB}", "f(3)", "3"),
        ("    return x", f"Complete this function:\n\n{STUB}", "f(3)", "3"),
        (
            "        t += i\n    return t",
            "def f(x):\n    t = 0\n    for i in x:\n",
            "f([1, 2])",
            "3",
        ),
        ("    def g(y):\n        return y + 1\n    return g(x)", STUB, "f(3)", "4"),
        ("    return x", "def f(x):  # the same", "f(3)", "3"),
    )


def test_a_method_continues_the_class_of_the_prompt() -> None:
    prompt = "class S:\n    def f(self, x):\n        pass\n\n    def g(self, x):\n        'Doc.'\n"
    bare = "def g(self, x):\n    return math.floor(x)"
    for reply in (
        f"import math\n\n{bare}",
        f"```python\nimport math\n```\nNow:\n```python\n{textwrap.indent(bare, '    ')}\n```",
        "        import math\n        return math.floor(x)",
        f"import math\n\n{prompt}        return math.floor(x)\n\nT = S()\n",
    ):
        program = extract_program(reply, entry_point="S", prompt=prompt)
        assert results([(program, "(S().g(3.5), S().f(1))")]) == ["(3, None)"], reply


def test_a_fence_that_shows_the_use_is_no_program() -> None:
    f = "def f(x):\n    return x"
    check(
        ("    return x\n\nUsage:\n```python\nprint(f(1))\n```", STUB, "f(3)", "3"),
        (f"{f}\n\nIt prints:\n```\n>>> f(1)\n1\n```", "", "f(3)", "3"),
        (f"```sh\npip install x\n```\n\n{f}", "", "f(3)", "3"),
        (f"```python\n{f}\n```\n```python\nfrom s import f\nf(1)\n```", "", "f(3)", "3"),
        (f"{f}\n```\nUse it:\n```python\nfrom s import f\n```", "", "f(3)", "3"),
    )


def test_code_in_sessions_quotes_and_spans() -> None:
    session = ">>> def f(x):\n...     y = x\n...\n...     return y\n...\n>>> f(1)\n1\n"
    check(
        (session, "", "f(3)", "3"),
        (f"```pycon\n{session}```", "", "f(3)", "3"),
        ("> So:\n>\n> ```\n> def f(x):\n>     return x > 1\n> ```", "", "f(3)", "True"),
        ("Use `def f(x): return x`.", "", "f(3)", "3"),
        ("```def f(x: int) -> int: return x```", "", "f(3)", "3"),
    )


def test_a_whole_function_stands_after_what_the_prompt_defines() -> None:
    prompt = f"from typing import *\n\ndef h(x):\n    return x + 1\n\n\n{STUB}"
    check(
        (" def f(x: List) -> int:\n    return h(x)", prompt, "f(3)", "4"),
        (
            "from __future__ import annotations\n\ndef f(x: No):\n    return h(x)",
            prompt,
            "f(3)",
            "4",
        ),
        ("def f(x):\n    return x", "Write f.\nassert f(1) == 2\n", "f(3)", "3"),
    )


def test_prose_is_no_code() -> None:
    f = "def f(x):\n    return x"
    check(
        (f"Define it (see below):\n\n{f}\n\nprint(f(3)) gives 3.", "", "f(3)", "3"),
        (f"[BEGIN]\n{f}\n[DONE]\n\nYou are an expert", "", "f(3)", "3"),
        (f"Use `def f(x)`:\n\n{textwrap.indent(f, '    ')}\n\nDone.", "", "f(3)", "3"),
        (f"{f}\n\nWait, no:\n\n{f} + 1", "", "f(3)", "4"),
        (f"\ufeff{f}".replace("    ", "\u00a0" * 4), "", "f(3)", "3"),
    )


@pytest.mark.parametrize(
    "reply", [None, "", "I cannot do that.", "<think>def f(x): pass", "```\n```"]
)
@pytest.mark.parametrize("prompt", ["", STUB])
def test_no_program(reply: str | None, prompt: str) -> None:
    assert code(reply, entry_point="f", prompt=prompt, invalid="?") == "?"


def test_without_entry_point() -> None:
    reply = "```python\ndef f(x):\n    return x\n```\n```python\nprint(f(4))\n```"
    assert code(reply) == "def f(x):\n    return x\n"
    assert code("```\nprint(1)\n```") == "print(1)\n"


def replies(prompt: str, body: str) -> Iterator[str]:
    """Yield a solution in many dresses."""
    whole = prompt + body
    yield from (body, body.strip(), body.replace("\n", "\r\n"), textwrap.dedent(body))
    yield from (whole, f" {whole}", textwrap.indent(whole, "    "), f"{whole}\n```\nDone.")
    yield f"Here is the code that you need:\n\n{whole}\nThis solves the task."
    yield f"{textwrap.dedent(body)}\n\nThis does what was asked."
    yield f"{body}\n\ndef other(x):\n    return x\n\nprint(other(3))"
    yield f"The body is as follows:\n\n```python\n{body}```"
    yield f"1. Write\n\n{textwrap.indent(f'```python{chr(10)}{whole}```', '   ')}\n2. Done"
    yield f"```py\n{whole}\nif __name__ == '__main__':\n    print(input())\n```\n```\n3\n```"
    yield re.sub(r"^(?:    )+", lambda m: "\t" * (len(m[0]) // 4), body, flags=re.MULTILINE)


def test_humaneval_solutions_in_many_dresses(data_dir: Path) -> None:
    text = (data_dir / "humaneval/test.jsonl").read_text(encoding="utf-8")
    for row in [json.loads(line) for line in text.split("\n") if line][::4]:
        prompt, body, name = row["prompt"], row["canonical_solution"], row["entry_point"]
        for reply in replies(prompt, body):
            program = extract_program(reply, entry_point=name, prompt=prompt)
            assert defined(program, name) == defined(prompt + body, name), reply


def defined(program: str, name: str) -> list[str]:
    """Return the code of the last function of that name, and the names of all others."""
    functions = [n for n in ast.parse(program).body if isinstance(n, ast.FunctionDef)]
    last = [n for n in functions if n.name == name][-1]
    body = [n for n in last.body if not isinstance(n, ast.Expr)]  # the docstring's indent moves
    others = {n.name for n in functions} - {"other"}
    return [*map(ast.dump, body), *sorted(others)]


@given(st.text("def f():`~ \n\t'\"#\\return x1=([{:.", max_size=60), st.sampled_from(["", STUB]))
def test_any_text_is_survived(reply: str, prompt: str) -> None:
    program = code(reply, entry_point="f", prompt=prompt)
    assert program == "" or program.strip()
