from __future__ import annotations

import pytest

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.hf_batches import Batcher

torch = pytest.importorskip("torch", reason="pip install 'pytest-evalplug[hf]'")


class Squares:
    """Squares numbers; a batch of more than ``fits`` rows really runs out of memory."""

    def __init__(self, fits: int = 99) -> None:
        self.fits = fits
        self.batches: list[list[int]] = []

    def __call__(self, rows: list[int]) -> list[int]:
        self.batches.append(rows)
        if len(rows) > self.fits:
            torch.empty(2**60, dtype=torch.uint8)
        return [row * row for row in rows]


def test_results_keep_the_order_and_batches_hold_like_lengths() -> None:
    squares = Squares()
    assert Batcher(2).run([1, 9, 2, 8, 3], squares, length=lambda n: n) == [1, 81, 4, 64, 9]
    assert squares.batches == [[9, 8], [3, 2], [1]]


def test_no_rows_need_no_computation() -> None:
    squares = Squares()
    assert Batcher(2).run([], squares, length=lambda n: n) == []
    assert squares.batches == []


def test_memory_that_runs_out_halves_the_batch_for_good() -> None:
    squares = Squares(fits=3)
    batcher = Batcher(8)
    numbers = list(range(9))
    expected = [n * n for n in numbers]
    assert batcher.run(numbers, squares, length=lambda n: n) == expected
    assert list(map(len, squares.batches)) == [8, 4, 2, 2, 2, 2, 1]
    squares.batches.clear()
    assert batcher.run(numbers, squares, length=lambda n: n) == expected
    assert max(map(len, squares.batches)) == 2


def test_a_row_that_does_not_fit_alone_is_an_error_in_its_place() -> None:
    class Picky(Squares):
        def __call__(self, rows: list[int]) -> list[int]:
            self.fits = 0 if 7 in rows else 99
            return super().__call__(rows)

    first, second, third = Batcher(2).run([1, 7, 2], Picky(), length=lambda n: n)
    assert (first, third) == (1, 4)
    assert isinstance(second, ModelError)
    assert "out of memory" in str(second)


def test_another_failure_is_raised() -> None:
    def broken(rows: list[int]) -> list[int]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="mat1"):
        Batcher(2).run([1, 2], broken, length=lambda n: n)


def test_a_batch_stays_within_the_cost() -> None:
    squares = Squares()
    Batcher(8).run([1, 2, 3, 4, 50], squares, length=lambda n: n, cost=lambda n: n, max_cost=8)
    assert squares.batches == [[50], [4, 3], [2, 1]]
