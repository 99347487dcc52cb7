"""Which samples run: limits, subsets, marks."""

from __future__ import annotations

import pytest

from .project import HEAD, Project, right

TWO = (
    HEAD
    + """
@register_benchmark(BenchmarkMeta(name="two", subset_list=["easy", "hard"], tags=["Own Tag"]))
class Two(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
"""
)


@pytest.fixture
def two(project: Project) -> Project:
    """Beside ``quiz`` a benchmark with two subsets."""
    project.write("test_two.py", TWO)
    project.add("pyproject.toml", 'evalplug_tags = ["Own Tag"]\nstrict_markers = true\n')
    project.data([right(n) for n in range(10)])
    for subset in ("easy", "hard"):
        project.data([right(n) for n in range(4)], f"two/{subset}/test")
    return project


@pytest.mark.parametrize(("limit", "count"), [("3", 3), ("0.2", 2), ("99", 10), ("0.01", 1)])
def test_limit(project: Project, limit: str, count: int) -> None:
    project.data([right(n) for n in range(10)])
    run = project.run("--limit", limit)
    assert run.outcomes == {"passed": count}
    assert run.result()["run"]["partial"] == (count < 10)
    assert ("partial run" in run.out) == (count < 10)


def test_limit_holds_for_each_subset(two: Project) -> None:
    run = two.run("--eval-limit=2", "test_two.py")
    assert run.outcomes == {"passed": 4}
    assert len(run.predictions("two-easy")) == len(run.predictions("two-hard")) == 2


@pytest.mark.parametrize("subset", ["hard", "two/hard"])
def test_subset(two: Project, subset: str) -> None:
    run = two.run("--subset", subset)
    assert run.outcomes == {"passed": 4, "deselected": 1}
    assert {path.stem for path in (run.path / "results/fake").iterdir()} == {"two-hard"}
    assert run.ret == 0


def test_an_unknown_subset_names_the_nearest(two: Project, mode: tuple[str, ...]) -> None:
    run = two.run("--subset=hrad", *mode)
    assert run.ret == 1
    assert "no benchmark has the subset 'hrad'. Did you mean 'hard'?" in run.out
    assert "Traceback" not in run.out


def test_marks(two: Project) -> None:
    assert two.run("-m", "tag_math").outcomes == {"passed": 10, "deselected": 8}
    assert two.run("-m", "tag_own_tag").outcomes == {"passed": 8, "deselected": 10}
    assert two.run("-m", "evalplug").outcomes == {"passed": 18}
    assert two.run("-m", "evalplug(name='two')").outcomes == {"passed": 8, "deselected": 10}
    markers = two.run("--markers").out
    assert "@pytest.mark.evalplug(name)" in markers
    assert "@pytest.mark.tag_own_tag" in markers


def test_k_selects_by_class_subset_and_id(two: Project) -> None:
    run = two.run("-k", "Two and hard-3", "-n2")
    assert run.outcomes == {"passed": 1}
    assert two.asked() == ["say 3"]
    assert run.result("two-hard")["run"]["partial"]


def test_subsets_get_their_average(two: Project) -> None:
    run = two.run("test_two.py")
    assert "naive_average" in run.out
    assert "weighted_average" in run.out


def test_what_is_skipped_is_not_asked(project: Project, mode: tuple[str, ...]) -> None:
    project.add(
        "conftest.py",
        """
def pytest_collection_modifyitems(items):
    for item in items[1::2]:
        item.add_marker(pytest.mark.skip("no"))
""",
    )
    project.data([right(n) for n in range(20)])
    assert project.run(*mode).outcomes == {"passed": 10, "skipped": 10}
    assert len(project.asked()) == 10
