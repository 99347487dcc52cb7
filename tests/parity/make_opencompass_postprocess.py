"""Computes opencompass_postprocess.json with OpenCompass's own functions.

    pip download opencompass==0.5.4 --no-deps && unzip opencompass-0.5.4-*.whl -d SOURCE
    pip install jieba
    python -m tests.parity.make_opencompass_postprocess SOURCE DATA_DIR

Only the functions are loaded; the package and what it needs are not installed.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.parity.postprocess_replies import (
    HARD,
    bbh_replies,
    chinese_texts,
    digest,
    gsm8k_replies,
)

RULES = {
    "general": ("utils/text_postprocessors.py", "general_postprocess"),
    "general_cn": ("utils/text_postprocessors.py", "general_cn_postprocess"),
    "first-capital": ("utils/text_postprocessors.py", "first_capital_postprocess"),
    "last-capital": ("utils/text_postprocessors.py", "last_capital_postprocess"),
    "first-capital-multi": ("utils/text_postprocessors.py", "first_capital_postprocess_multi"),
    "first-option": ("utils/text_postprocessors.py", "first_option_postprocess"),
    "bbh-mcq": ("datasets/bbh.py", "bbh_mcq_postprocess"),
    "bbh-freeform": ("datasets/bbh.py", "bbh_freeform_postprocess"),
    "gsm8k": ("datasets/gsm8k.py", "gsm8k_postprocess"),
}


def load(source: Path, module: str, name: str) -> Callable[..., str]:
    """Return one function of OpenCompass, without the decorator that registers it."""
    tree = ast.parse((source / "opencompass" / module).read_text(encoding="utf-8"))
    (node,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    node.decorator_list.clear()
    names: dict[str, Any] = {"re": re}
    exec(compile(ast.Module([node], []), module, "exec"), names)
    function: Callable[..., str] = names[name]
    return function


def main(source: Path, data: Path) -> None:
    """Write the file."""
    stored: dict[str, Any] = {"hard": {}, "replies": {}}
    replies = {**bbh_replies(data), **gsm8k_replies(data)}
    chinese = chinese_texts(data)
    for rule, (module, name) in RULES.items():
        function = load(source, module, name)
        options = {"options": "ABCDEFGHIJKLMNOPQR"} if rule == "first-option" else {}
        stored["hard"][rule] = [function(text, **options) for text in HARD]
        stored["replies"][rule] = {
            name: digest([function(text, **options) for text in texts])
            for name, texts in (chinese if rule == "general_cn" else replies).items()
        }
    path = Path(__file__).with_name("opencompass_postprocess.json")
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
