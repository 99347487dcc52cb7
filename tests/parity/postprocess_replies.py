"""Replies that published postprocessors are compared on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HARD = [
    *("", " ", ".", "\n", "B", "(B)", "b", "I", "The answer is", "answer is ", "NULL"),
    "The answer is (B). No, the answer is (C).",
    "So the answer is: **(D)**.\nThe answer is (E).",
    "the ANSWER IS : **Yes, it is**.",
    "answer is no\u2028more",
    "Answer is True, I think",
    "falsely put",
    "no.",
    "ant , bee,cat ,  dog.",
    "1, 2, ant",
    "an apple, a day",
    "The  a\tan theatre's \u201cthe\u201d end",
    "3.14 is pi",
    "1,200.50 and -7 or - 8 or 5-3",
    "-5.5.5 #### -1,234.50. Question: 99",
    "#### 12\n#### 13",
    "#### $12",
    "$5,000.00.",
    "$, .. 7",
    "\u0663\u0664 and \uff15",
    "It is 42.\n",
    "#### 42.\n",
    "\u0391\u03b2\u0393 and \u00c9",
    "DNA and ABBA, then D",
    "\u7b54\u6848\u662fB\u3002",
    "\u7b54\u6848\uff1a C",
    "\u7b54\u6848\u9009\u9879\u4e3a **C**",
    "\u7b54\u6848\u662f\u5df4\u9ece\u3002\u6240\u4ee5D.",
    "\u6545\u9009B\u53ea\u6709C\u662f\u5bf9",
    "\u53ea\u6709\u9009\u9879D\u6b63\u786e",
    "\u8bf4\u6cd5\u4e0d\u6b63\u786e\u7684\u662f A",
    "\u56e0\u6b64 B\u3002",
    "\u5c0f\u660e\u53bb\u5317\u4eac, \u5929\u5b89\u95e8\u3002",
    "The correct answer is: \\boxed{C}",
    "The correct answer option is that\nof $\\boxed{D}$",
    "the answer to the question is: (B)",
    "1. Paris\n2. London B",
    "11 C",
    "A. Paris\nB. London",
    "None of these, but D:",
]
"""What a rule could easily get otherwise."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def bbh_replies(data: Path) -> dict[str, list[str]]:
    """Return the replies to each of BBH's subsets."""
    paths = sorted((data / "replies/bbh/cot").glob("*.jsonl"))
    return {path.stem: [row["prediction"] for row in rows(path)] for path in paths}


def gsm8k_replies(data: Path) -> dict[str, list[str]]:
    """Return two models' replies to GSM8K, as they are and with the mark of GSM8K's solutions."""
    found: dict[str, list[str]] = {}
    for name in ("6b_finetuning", "6b_verification"):
        texts = [row["prediction"] for row in rows(data / f"replies/gsm8k/{name}.jsonl")]
        found[name] = texts
        found[f"{name}, marked"] = [text.replace("\nA: ", "\n#### ") for text in texts]
    return found


def gsm8k_solutions(data: Path) -> list[str]:
    """Return the reference solutions, in the order of the replies."""
    return [row["answer"] for row in rows(data / "gsm8k/test.jsonl")]


def chinese_texts(data: Path) -> dict[str, list[str]]:
    """Return some questions in Chinese."""
    questions = [row["question"] for row in rows(data / "agieval/gaokao-history/test.jsonl")]
    return {"gaokao-history": questions[:60]}


def digest(values: Sequence[str]) -> str:
    """Return what two lists share only if they are equal."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
