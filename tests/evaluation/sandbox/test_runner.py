# ruff: noqa: E501 (programs and their tests on a line each)
from __future__ import annotations

import asyncio
import os
import time

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.sandbox import Limits, kinds, run, run_program, runner

RIGHT = {
    "callback": ("def f(g, x): return g(g(x))", "assert f(lambda y: y + 1, 2) == 4"),
    "changes-its-argument": ("def f(a): a[0].append(3); a.pop()", "x = [[1], 2]\nf(x)\nassert x == [[1, 3]]"),
    "returns-its-argument": ("def f(a): return a", "x = [1]\nassert f(x) is x"),
    "cycle": ("def f(a): return a[0] is a", "x = []\nx.append(x)\nassert f(x)"),
    "generator": ("def f(n):\n yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
    "endless-generator": (
        "import itertools\ndef f(): return itertools.count()",
        "g = f()\nassert [next(g), next(g)] == [0, 1]",
    ),
    "class": (
        ("class Node:\n def __init__(self, v): self.v, self.left = v, None\n"
        "def depth(n): return 1 + depth(n.left) if n else 0"),
        "root = Node(1)\nroot.left = Node(2)\nassert depth(root) == 2 and root.left.v == 2",
    ),
    "equal-objects": (
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n x: int\n"
        "def f(p): return P(p.x + 1)"),
        "assert f(P(1)) == P(2)\nassert f(P(1)) != P(3)\nassert isinstance(f(P(1)), P)",
    ),
    "error": (
        "def f(x): raise ValueError('no')",
        "try:\n    f(1)\nexcept ValueError as e:\n    assert str(e) == 'no'\nelse:\n    assert f is None",
    ),
    "own-error": (
        "class Bad(KeyError): pass\ndef f(x): raise Bad(x)",
        ("try:\n    f(1)\nexcept Bad as e:\n    assert e.args == (1,) and isinstance(e, KeyError)\n"
        "else:\n    assert f is None"),
    ),
    "named-tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)",
        "assert f() == (1, 2) and f().y == 2 and repr(f()) == 'P(x=1, y=2)'",
    ),
    "standard-types": (
        ("from collections import Counter, OrderedDict, defaultdict, deque\n"
        "from decimal import Decimal\nfrom fractions import Fraction\nimport datetime as d\n"
        "def f(x): return [Counter('aab'), defaultdict(int, a=1), OrderedDict(a=1), deque([1]),"
        " Decimal('0.1'), Fraction(1, 3), d.date(2020, 1, 2), range(3), 1j, b'x', {1}, x]"),
        ("from decimal import Decimal\nfrom fractions import Fraction\nimport datetime as d\n"
        "got = f(Decimal('2'))\n"
        "assert got[:2] == [{'a': 2, 'b': 1}, {'a': 1}] and list(got[3]) == [1]\n"
        "assert got[4:] == [Decimal('0.1'), Fraction(1, 3), d.date(2020, 1, 2), range(3), 1j, b'x',"
        " {1}, Decimal('2')]"),
    ),
    "python's-name": ("def sum(a, b): return a + b", "assert sum(10, 15) == 25"),
    "imported-module": ("import math\ndef f(x): return math.sqrt(x)", "assert f(4) == math.sqrt(4)"),
    "object-of-the-test": (
        "def f(o): o.n += 1; return o.double()",
        ("class O:\n    n = 1\n    def double(self):\n        return 2 * self.n\n"
        "o = O()\nassert f(o) == 4 and o.n == 2"),
    ),
    "raise-instead-of-assert": ("def f(): return 1", "if f() != 1:\n    raise AssertionError"),
    "big": ("def f(n): return 7 ** n, 'a' * n, float('inf')", "assert f(9999)[0] % 7 == 0"),
    "surrogate": ("def f(s): return s + '\\ud800'", "assert f('\\udc80') == '\\udc80\\ud800'"),
    "coroutine": (
        "import asyncio\nasync def f(x):\n await asyncio.sleep(0)\n return [x * x]",
        ("import asyncio\nasync def main():\n"
        "    assert await asyncio.gather(f(2), f(3)) == [[4], [9]]\n    assert await f(4) == [16]\n"
        "asyncio.run(main())\nassert asyncio.run(f(5)) == [25]"),
    ),
    "documentation": (
        "class C:\n '''A C.'''\ndef f(x): return C()",
        "assert f.__doc__ is None and f(1).__doc__ == C.__doc__ == 'A C.'",
    ),
    "from-future": ("from __future__ import annotations\ndef f(x: Nope): return x", "assert f(1) == 1"),
    "pickle": ("import copy\nclass A: x = 1\ndef f(): return copy.deepcopy(A()).x", "assert f() == 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_pass(name: str) -> None:
    verdict = run(*RIGHT[name], timeout=20)
    assert (verdict.status, verdict.reason) == ("pass", "")


def test_the_reason_names_the_line() -> None:
    verdict = run("def f(x): return x", "assert f(1) == 1\nassert f(2) == 4, 'square'", timeout=20)
    assert verdict.status == "fail"
    assert (
        verdict.reason == "AssertionError: square (line 2 of the test: assert f(2) == 4, 'square')"
    )


def test_output_is_kept_up_to_its_limit() -> None:
    program = "print('begin' + 'x' * 9999)\nimport sys\nprint('error', file=sys.stderr)\ndef f(): return 1"
    verdict = run(program, "assert f()", timeout=20, limits=Limits(output=100))
    assert verdict.passed
    assert verdict.output == "begin" + "x" * 95


@pytest.mark.parametrize("kind", [k for k in kinds.KINDS if not runner.problem_of(k)])
def test_what_the_test_prints_is_output_and_no_verdict(kind: str) -> None:
    program = "def f(): return 'pass\\n0\\nforged'"
    verdict = run(program, "print(f())\nassert f() == 1", timeout=20, kind=kind)
    assert (verdict.status, verdict.output) == ("fail", "pass\n0\nforged\n")
    assert run(program, "print('fail')\nassert f()", timeout=20, kind=kind).passed


def test_memory_is_limited() -> None:
    program = "def f(): return len(bytearray(300 * 2**20))"
    assert run(program, "assert f()", timeout=20).passed
    assert not run(program, "assert f()", timeout=20, limits=Limits(memory=2**28)).passed


def test_trusted_helpers_come_before_the_programs_own() -> None:
    program = "def poly(x): return 0\ndef root(): return 5"
    test = "assert poly(root()) == 0"
    assert run(program, test, timeout=20).passed
    assert run(program, test, setup="def poly(x): return x - 4", timeout=20).status == "fail"


def test_an_assertion_that_the_program_catches_still_fails() -> None:
    program = "def f(g):\n    try: g(1)\n    except AssertionError: pass"
    test = "def g(x):\n    assert x == 2\nf(g)\nassert f"
    assert run(program, test, timeout=20).status == "fail"


def test_a_test_that_is_not_python_is_an_error_in_the_data() -> None:
    with pytest.raises(EvalplugError, match="the test is not Python"):
        run("x = 1", "assert (", timeout=20)


def test_a_sandbox_that_does_not_start_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = runner.best_kind()
    monkeypatch.setattr(kinds, "command", lambda kind: ["/bin/sh", "-c", "echo broken >&2; exit 3"])
    with pytest.raises(EvalplugError, match=r"does not start: exit status 3, broken"):
        run("x = 1", "assert x", timeout=20, kind=kind)
    monkeypatch.setattr(kinds, "command", lambda kind: ["/no/such/python"])
    with pytest.raises(EvalplugError, match="cannot start /no/such/python"):
        run("x = 1", "assert x", timeout=20, kind=kind)


def test_every_kind_says_its_name() -> None:
    kind = runner.best_kind()
    verdict = run("def f(): return 1", "assert f() == 1", timeout=20)
    assert (verdict.sandbox, verdict.note) == (kind, kinds.NOTES[kind])
    assert "weak" in kinds.NOTES["rlimits"]


def test_executions_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)

    async def two() -> float:
        start = time.monotonic()
        program = "import time\ndef f(): time.sleep(3); return 1"
        runs = (run_program(program, "assert f() == 1", timeout=20) for _ in range(2))
        assert all(verdict.passed for verdict in await asyncio.gather(*runs))
        return time.monotonic() - start

    if len(os.sched_getaffinity(0)) > 1:
        assert asyncio.run(two()) < 6  # one after the other they sleep for that long


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")

    async def free() -> int:
        return runner._slots()._value

    assert asyncio.run(free()) == 2


def test_a_program_may_import_installed_packages() -> None:
    assert run("import pytest\ndef f(): return 1", "assert f() == 1", timeout=20).passed
