"""Predicting and scoring apart; going on in an earlier run."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from .project import CONFTEST, QUIZ, Project, right, wait_for_results, wrong

NO_FIXTURE = CONFTEST.replace("    return Fake()", "    raise RuntimeError('the model was set up')")


def test_infer_then_eval(project: Project, every_mode: tuple[str, ...]) -> None:
    project.data([right(0), wrong(1), {"q": "fail it", "a": "x"}])
    first = project.run("--mode=infer", *every_mode)
    assert first.ret == 1
    assert first.outcomes == {"passed": 2, "errors": 1}
    assert not (first.path / "results").exists()
    assert len(first.predictions()) == 3
    assert "predictions in outputs" in first.out
    assert "report: " not in first.out
    assert len(project.asked()) == 3

    project.write("conftest.py", NO_FIXTURE)
    second = project.run("--mode=eval", *every_mode)
    assert second.path == first.path
    assert second.ret == 1
    assert second.outcomes == {"passed": 1, "wrong": 1, "errors": 1}
    assert second.result()["accuracy"] == 50
    assert "was set up" not in second.out
    assert "(saved error)" in second.out
    assert project.asked() == []
    assert second.predictions() == first.predictions()


def test_rescoring_with_another_rule(project: Project) -> None:
    project.data([{"q": "say the answer is 7", "a": "7"}])
    first = project.run()
    assert first.outcomes == {"wrong": 1}
    project.write("conftest.py", NO_FIXTURE)
    project.write(
        "test_quiz.py",
        QUIZ.replace("ACCURACY = dict(", 'ACCURACY = dict(pred_postprocessor="last-number", '),
    )
    second = project.run("--reuse", "--mode", "eval")
    assert second.outcomes == {"passed": 1}
    assert second.path == first.path
    assert second.result()["details"][0]["pred"] == "7"


def test_a_missing_prediction_is_an_error(project: Project) -> None:
    project.data([right(0), right(1)])
    project.run("--limit=1")
    project.asked()
    run = project.run("--mode=eval", "--limit=2")
    assert run.ret == 1
    assert run.outcomes == {"passed": 1, "errors": 1}
    assert "no saved prediction of fake. Run it without --mode eval" in run.out
    assert project.asked() == []


def test_scoring_follows_what_the_run_selected(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.data([right(0), right(1), right(2)])
    project.run("--limit=2", "--mode=infer")
    assert project.run("--mode=eval").outcomes == {"passed": 2}
    assert project.run("--mode=eval", "--limit=1").outcomes == {"passed": 1}
    run = project.run("--mode=eval", "-n2")  # not the last scoring: the last inference
    assert run.outcomes == {"passed": 2}
    assert "partial run, 2 samples" in run.out
    monkeypatch.setenv("EVALPLUG_LIMIT", "3")
    assert project.run("--mode=eval").outcomes == {"passed": 2, "errors": 1}


def test_scoring_follows_what_the_run_was_set_to(project: Project) -> None:
    project.data([right(0), right(1)])
    setting = "--eval-set=quiz.generation.max_tokens=32"
    project.run(setting, "--eval-set=quiz.repeats=2", "--mode=infer")
    assert project.run("--mode=eval").outcomes == {"passed": 4}
    run = project.run("--mode=eval", '--eval-set=quiz.eval_cfg={"evaluator": "em"}')
    assert run.outcomes == {"passed": 4}
    assert "exact_match" in run.result()
    assert project.run("--mode=eval", "--eval-set=quiz.repeats=1").outcomes == {"passed": 2}
    assert project.run("--reuse", "--eval-set=quiz.repeats=2").outcomes == {"passed": 4}
    assert len(project.asked()) == 8  # other parameters, so asked again


def test_a_stale_prediction_is_not_scored(project: Project) -> None:
    project.data([right(0)])
    project.run()
    run = project.run("--mode=eval", "--eval-set=quiz.prompt_template=Now {question}")
    assert run.outcomes == {"errors": 1}
    assert "is stale: changed prompt" in run.out


def test_viz(project: Project) -> None:
    project.data([right(0), wrong(1)])
    first = project.run()
    project.asked()
    run = project.run("--mode=viz")
    assert run.ret == 0
    assert "quiz       " in run.out
    assert "50.00" in run.out
    assert "test session starts" not in run.out
    assert str(first.path) in run.out
    assert project.asked() == []
    assert project.run("--mode=viz", "--reuse", first.path.name).ret == 0
    missing = project.run("--mode=viz", "--reuse", "20200101_000000")
    assert missing.ret == 4
    assert first.path.name in missing.out


def test_reuse_asks_for_what_is_missing(project: Project, mode: tuple[str, ...]) -> None:
    project.data([right(0), wrong(1), {"q": "fail it", "a": "x"}, right(3)])
    first = project.run("--limit=3", *mode)
    assert len(project.asked()) == 3
    second = project.run("--reuse", *mode)
    assert second.path == first.path
    assert len(project.runs) == 1
    assert sorted(project.asked()) == ["fail it", "say 3"]
    assert second.outcomes == {"passed": 2, "wrong": 1, "errors": 1}
    assert "2 saved predictions reused, 1 asked of the model" in second.out
    assert not second.result()["run"]["partial"]
    third = project.run("--reuse", first.path.name, "-k", "default-0")
    assert project.asked() == []
    assert third.outcomes["passed"] == 1
    assert len(third.predictions()) == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('quiz.generation={"temperature": 0.5}', "generation parameters"),
        ("quiz.prompt_template=Please\n{question}", "prompt"),
    ],
)
def test_a_change_is_asked_again_and_said(project: Project, change: str, said: str) -> None:
    project.data([right(0), right(1)])
    project.run()
    project.asked()
    run = project.run("--reuse", f"--eval-set={change}")
    assert len(project.asked()) == 2
    assert f"2 saved predictions no longer fit and were asked again: changed {said}" in run.out


def test_changed_data_is_asked_again(project: Project) -> None:
    project.data([right(0), right(1)])
    project.run()
    project.asked()
    project.data([right(0), right(5)])
    run = project.run("--reuse")
    assert project.asked() == ["say 5"]
    assert run.outcomes == {"passed": 2}
    assert run.predictions()["1"]["prediction"] == "5"


def test_the_run_directory(project: Project) -> None:
    project.data([right(0)])
    first = project.run("--work-dir=out/deep", "--eval-limit=1")
    assert not project.runs
    (path,) = (project.path / "out/deep").iterdir()
    assert re.fullmatch(r"\d{8}_\d{6}", path.name)
    assert f"results and summary in out/deep/{path.name}" in first.out
    assert f"report: out/deep/{path.name}/report/index.html" in first.out
    files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    assert {"predictions/fake/quiz.json", "results/fake/quiz.json"} <= files
    assert sorted(f.rsplit(".", 1)[-1] for f in files if f.startswith("summary/")) == [
        "csv", "json", "md", "txt"
    ]  # fmt: skip
    snapshot = "".join(p.read_text() for p in (path / "configs").rglob("*.*"))
    assert '"limit": 1' in snapshot


def test_runs_of_one_second_do_not_meet(project: Project) -> None:
    project.data([right(0)])
    for _ in range(3):
        project.run()
    assert len(project.runs) == 3


def test_two_models_share_a_work_dir(project: Project) -> None:
    project.data([right(0), right(1)])
    project.run()
    project.write("conftest.py", CONFTEST.replace('name = "fake"', 'name = "other/one"'))
    run = project.run("--reuse")
    assert len(project.asked()) == 4
    folders = {path.name for path in (run.path / "predictions").iterdir()}
    assert len(folders) == 2
    assert "fake" in folders
    assert all(re.fullmatch(r"[\w.-]+", folder) for folder in folders)
    assert re.search(r"^quiz +\w+ +accuracy +gen +100.00 +100.00$", run.out, re.MULTILINE)


def test_a_run_keeps_its_mode(project: Project) -> None:
    project.data([{"q": "say A", "a": "right", "choices": ["right", "no"]}])
    first = project.run()
    refused = project.run("--reuse", "--eval-mode=ll")
    assert refused.ret == 4
    assert f"the run {first.path.name} was made with --eval-mode=gen" in refused.out
    assert project.run("--reuse").ret == 0


def test_data_sets_of_earlier_sessions_stay_in_the_table(project: Project) -> None:
    second = QUIZ.replace('name="quiz"', 'name="second"').replace("class Quiz", "class Second")
    project.write("test_second.py", second)
    project.data([right(0)])
    project.data([right(0)], "second/test")
    project.run("test_quiz.py")
    run = project.run("test_second.py", "--reuse")
    assert [line.split()[0] for line in run.out.splitlines() if " accuracy  " in line] == [
        "quiz",
        "second",
    ]


def test_secrets_are_masked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add(
        "pyproject.toml",
        """
[tool.evalplug.models.paid]
backend = "openai"
model = "m"
base_url = "http://user:hunter2@127.0.0.1:9/v1"
headers = { Authorization = "Bearer hunter2", X-Api-Key = "hunter2" }
""",
    )
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    project.data([right(0)])
    run = project.run("--model=paid")
    assert run.outcomes == {"passed": 1}  # the fixture answers; the table is in the snapshot
    for path in run.path.rglob("*"):
        assert not path.is_file() or "hunter2" not in path.read_text(), path
    assert "hunter2" not in run.out


def test_a_second_process_on_a_run_is_refused(project: Project) -> None:
    from pytest_evalplug.run.directory import RunDirectory

    project.data([right(0)])
    first = project.run()
    held = RunDirectory.open(first.path.parent, first.path.name)
    try:
        run = project.run("--reuse")
    finally:
        held.close()
    assert run.ret == 4
    assert first.path.name in run.out


def test_predictions_hold_what_was_asked(project: Project) -> None:
    project.data([{"q": "say {x} %s $y \\boxed{2}", "a": "0"}])
    run = project.run()
    record = run.predictions()["0"]
    assert record["origin_prompt"] == "say {x} %s $y \\boxed{2}"
    assert record["gold"] == "0"
    assert json.loads(json.dumps(record["key"])).keys() == {"model", "prompt", "params", "sample"}


def test_a_kill_loses_nothing(project: Project) -> None:
    rows = [right(n) for n in range(4)] + [{"q": f"wait 0.2{n}", "a": "x"} for n in range(40)]
    project.data(rows)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest"], cwd=project.path, stdout=subprocess.DEVNULL
    )
    wait_for_results(project.path)
    process.kill()
    process.wait()
    first = project.asked()
    project.data(rows[:12])
    run = project.run("--reuse")
    again = project.asked()
    assert len(run.predictions()) >= 12
    # only the batch that was under way is asked again
    assert len(set(first) & set(again)) <= 4
    assert run.outcomes["passed"] == 4


CHOICES = QUIZ.replace("DefaultDataAdapter", "MultiChoiceAdapter")


@pytest.mark.parametrize("option", ["--reuse", "--mode=eval"])
def test_a_corrected_reference_is_scored_with(project: Project, option: str) -> None:
    project.write("test_quiz.py", CHOICES)
    row = {"q": "what?", "choices": ["one", "two"]}
    project.data([{**row, "a": "B"}])
    first = project.run("--eval-set=quiz.prompt_template=say A")
    assert first.outcomes == {"wrong": 1}
    project.data([{**row, "a": "A"}])
    project.asked()
    run = project.run(option, "--eval-set=quiz.prompt_template=say A")
    assert project.asked() == []
    assert run.outcomes == {"passed": 1}
    assert run.result()["details"][0]["answer"] == "A"
    assert run.predictions()["0"]["gold"] == "A"


def test_scoring_a_named_model_needs_neither_fixture_nor_weights(project: Project) -> None:
    folder = project.path / "weights"
    folder.mkdir()
    (folder / "model.safetensors").write_text("1")
    project.data([right(0), wrong(1)])
    first = project.run("--model=hf:weights", "--mode=infer")
    assert first.outcomes == {"passed": 2}
    project.write("conftest.py", NO_FIXTURE)
    (folder / "model.safetensors").unlink()
    folder.rmdir()
    run = project.run("--model=hf:weights", "--mode=eval")
    assert run.outcomes == {"passed": 1, "wrong": 1}
    assert run.result(model="weights")["accuracy"] == 50


def test_scoring_says_when_the_named_model_is_another(project: Project) -> None:
    table = "\n[tool.evalplug.models.mine]\nbackend = 'hf'\nmodel = 'one'\n"
    project.add("pyproject.toml", table)
    project.data([right(0)])
    project.run("--model=mine")
    pyproject = project.path / "pyproject.toml"
    project.write("pyproject.toml", pyproject.read_text().replace("'one'", "'two'"))
    run = project.run("--model=mine", "--mode=eval")
    assert run.outcomes == {"errors": 1}
    assert "the saved prediction of mine is stale: changed model" in run.out


def test_the_log_tells_of_the_engine_and_no_report_does(project: Project) -> None:
    project.data([right(0), wrong(1), {"q": "raise é", "a": "x"}])
    run = project.run("-rA", "--log-level=INFO")
    log = (run.path / "logs/infer/main.log").read_text(encoding="utf-8")
    assert "INFO model fake: 3 samples planned, gen mode" in log
    assert "INFO model fake: closed; " in log
    assert "RuntimeError: é" in log
    assert "samples planned" not in run.out
