from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.mathematics.tokens import (
    Unreadable,
    canonical,
    tokenize,
    untokenize,
)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\left(\dfrac{1}{2},\,x\right)", r"( \frac { 1 } { 2 } , x )"),
        (r"10,\!080", "10080"),
        (r"11,\! 111,\! 111,\! 100", "11111111100"),
        ("1{,}234.5", "1234.5"),
        ("1,234,567", "1234567"),
        ("(1,234)", "( 1 , 234 )"),
        ("1,23", "1 , 23"),
        ("1, 234", "1 , 234"),
        ("0,123", "0 , 123"),
        (r"0.1\overline{6}", "15/90"),
        ("1.5e-3", "1.5 * 10 ^ { - 3 }"),
        ("x² ≤ 2½", r"x ^ { 2 } \le 2 \frac { 1 } { 2 }"),
        ("x₁ \u2212 \uff13", "x _ { 1 } - 3"),
        (r"\mathrm{e}^2", "e ^ 2"),
        (r"\text{Even}", "even"),
        (r"\textbf{12}", "12"),
        (r"\operatorname{sin} x", r"\sin x"),
        ("12 dollars", "12 dollars"),
        ("36.50 bananas", "36.50 bananas"),
        ("xyz", "x y z"),
        ("2**3", "2 ^ 3"),
        (r"x \geqslant 3", r"x \ge 3"),
        (r"\mathbb{R}", r"\mathbb:R"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin:pmatrix 1 \\ 2 \end:pmatrix"),
    ],
)
def test_layout_and_spelling_are_folded(latex: str, text: str) -> None:
    assert canonical(tokenize(latex)) == text


@pytest.mark.parametrize("latex", ["(" * 60, "x" * 20_000, "x " * 2_000, r"\text{" * 100])
def test_what_is_too_long_or_too_deep_is_refused(latex: str) -> None:
    with pytest.raises(Unreadable, match="too"):
        tokenize(latex)


def test_canonical_text_is_latex_again() -> None:
    tokens = tokenize(r"2\cdot\begin{pmatrix}1\\2\end{pmatrix}\in\mathbb{R}")
    again = untokenize(canonical(tokens))
    assert r"\begin{pmatrix}" in again
    assert tokenize(again) == tokens
