"""Write ``punkt_english.txt``: what the English Punkt model of NLTK says, in the form we read.

    python tests/parity/make_ifeval_punkt.py NLTK_DATA/tokenizers/punkt_tab/english

The folder is NLTK's data package ``punkt_tab`` (the wheel llama-index-core 0.14.25 carries it too).
Of the contexts in which Punkt saw a word (bits 2, 4, 8: capitalised at the start, in the middle, at
an unknown place of a sentence; 16, 32, 64: the same in lower case) its decisions read three facts
only, so words that were never seen in lower case are left out. A space within a word is ``_``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import wrap

TARGET = (
    Path(__file__).resolve().parents[2]
    / "pytest_evalplug"
    / "evaluation"
    / "ifeval"
    / "punkt_english.txt"
)
HEADER = """\
# The English Punkt model, trained by Jan Strunk on the Wall Street Journal (Penn Treebank).
# From NLTK's data package punkt_tab, "Punkt Tokenizer Models", author Jan Strunk, MIT License.
# Written by tests/parity/make_ifeval_punkt.py.
"""
UPPER_MIDDLE, UPPER, LOWER_START, LOWER = 4, 2 + 4 + 8, 16, 16 + 32 + 64


def main(folder: str) -> None:
    def lines(name: str) -> list[str]:
        return [line for line in (Path(folder) / name).read_text("utf-8").split("\n") if line]

    seen = {
        word: int(bits)
        for word, bits in (line.rsplit("\t", 1) for line in lines("ortho_context.tab"))
        if int(bits) & LOWER
    }
    sections = {
        "abbreviations": lines("abbrev_types.txt"),
        "starters": lines("sent_starters.txt"),
        "collocations": [line.replace("\t", "|") for line in lines("collocations.tab")],
        "lower_first": [w for w, b in seen.items() if b & LOWER_START and not b & UPPER],
        "capital_inside": [w for w, b in seen.items() if b & UPPER_MIDDLE],
        "lower": [w for w, b in seen.items() if not b & UPPER_MIDDLE],
    }
    text = "".join(f"\n[{name}]\n{_fill(words)}\n" for name, words in sections.items())
    TARGET.write_text(HEADER + text, encoding="utf-8", newline="\n")


def _fill(words: list[str]) -> str:
    text = " ".join(word.replace(" ", "_") for word in sorted(words))
    return "\n".join(wrap(text, 100, break_long_words=False, break_on_hyphens=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
