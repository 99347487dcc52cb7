from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.option_table import OPTIONS
from pytest_evalplug.options import RunConfig

SHORT = [
    *("--model", "--judge-model", "--mode", "--reuse", "--work-dir", "--limit", "--subset"),
    *("--data-dir", "--dump-extract-rate", "--dump-res-length", "--dump-eval-details"),
]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for option in OPTIONS:
        monkeypatch.delenv(f"EVALPLUG_{option.name.upper()}", raising=False)


def read(pytester: pytest.Pytester, *args: str) -> RunConfig:
    return RunConfig.from_pytest(pytester.parseconfig("-p", "no:randomly", *args))


def test_defaults(pytester: pytest.Pytester) -> None:
    assert read(pytester) == RunConfig(work_dir=pytester.path / "outputs")
    assert not read(pytester).is_evaluation


def test_every_short_name_has_a_twin(pytester: pytest.Pytester) -> None:
    assert [option.short for option in OPTIONS if option.short] == SHORT
    twins = {option.short: option.flag for option in OPTIONS if option.short}
    assert twins.pop("--mode") == "--eval-stage"
    assert all(twin == f"--eval-{short[2:]}" for short, twin in twins.items())
    assert read(pytester, "--limit=3") == read(pytester, "--eval-limit=3")
    assert read(pytester, "--mode=infer") == read(pytester, "--eval-stage=infer")
    assert read(pytester, "--subset=a", "--eval-subset=b").subsets == ("a", "b")


def test_the_command_line_wins_over_environment_over_ini(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\nevalplug_limit = 1\nevalplug_subset = x y\n")
    assert read(pytester).limit == 1
    assert read(pytester).subsets == ("x", "y")
    monkeypatch.setenv("EVALPLUG_LIMIT", "2")
    monkeypatch.setenv("EVALPLUG_SUBSET", "p,q")
    assert read(pytester).limit == 2
    assert read(pytester).subsets == ("p", "q")
    assert read(pytester, "--limit=3", "--subset=z").limit == 3
    assert read(pytester, "--subset=z").subsets == ("z",)


@pytest.mark.parametrize(("text", "value"), [("7", 7), ("0.5", 0.5)])
def test_limit_is_a_count_or_a_fraction(pytester: pytest.Pytester, text: str, value: float) -> None:
    limit = read(pytester, f"--limit={text}").limit
    assert limit == value
    assert type(limit) is type(value)


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "0.0", "nan", "x", "1e3", "inf"])
def test_other_limits_are_refused(pytester: pytest.Pytester, text: str) -> None:
    with pytest.raises(ConfigError, match=f"--limit: must be .*, got '{text}'"):
        read(pytester, f"--limit={text}")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("gsm8k.few_shot_num=0", {"gsm8k": {"few_shot_num": 0}}),
        ('b.subset_list=["x"]', {"b": {"subset_list": ["x"]}}),
        ("b.prompt_template=Say = {question}", {"b": {"prompt_template": "Say = {question}"}}),
        ("b.shuffle=true", {"b": {"shuffle": True}}),
        ("b.generation.max_tokens=32", {"b": {"generation.max_tokens": 32}}),
        ("b.v1.5.eval_cfg.evaluator=em", {"b.v1.5": {"eval_cfg.evaluator": "em"}}),
        ("mmlu.v1.seed=3", {"mmlu.v1": {"seed": 3}}),
    ],
)
def test_overrides(
    pytester: pytest.Pytester, setting: str, expected: dict[str, dict[str, Any]]
) -> None:
    config = read(pytester, f"--eval-set={setting}")
    assert config.overrides == expected
    assert [name for name, _, _ in config.settings] == list(expected)


def test_overrides_in_the_configuration_file(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.evalplug.benchmarks.b]\nfew_shot_num = 1\nseed = 4\n")
    assert read(pytester, "--eval-set=b.seed=5").overrides == {"b": {"few_shot_num": 1, "seed": 5}}
    assert read(pytester).settings == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[tool.evalplug.benchmarks]\narith = 3\n", "tool.evalplug.benchmarks.arith"),
        ("[tool.evalplug]\nbenchmarks = []\n", "tool.evalplug.benchmarks"),
        ("[tool.evalplug]\nmodels = 3\n", "tool.evalplug.models"),
        ("[tool.evalplug.models]\napi_key = 's3cret'\n", "tool.evalplug.models.api_key"),
        ("[tool]\nevalplug = 'x'\n", "tool.evalplug"),
    ],
)
def test_what_must_be_a_table(pytester: pytest.Pytester, text: str, name: str) -> None:
    pytester.makepyprojecttoml(text)
    with pytest.raises(ConfigError) as error:
        read(pytester, "--model=smollm2")
    assert str(error.value).endswith(f"pyproject.toml: {name} is no table. Write it as [{name}]")


def test_a_configuration_goes_through_json(pytester: pytest.Pytester) -> None:
    price = "price = { prompt = 1, completion = 2.5 }"
    pytester.makepyprojecttoml(
        "[tool.evalplug.models]\n"
        f'own = {{ backend = "openai", model = "m", headers = {{a = "b"}}, {price} }}\n'
        f'other = {{ backend = "hf", model = "some/model", {price} }}\n'
        f'judge = {{ backend = "openai", model = "j", base_url = "http://h/v1", {price} }}\n'
    )
    for name in ("r/configs", "r/results"):
        (pytester.path / name).mkdir(parents=True)
    (pytester.path / "r/configs/config_1.json").touch()
    pytester.makefile(".csv", d="question,answer\nq,a\n")
    config = read(
        pytester,
        "--eval-custom=d.csv",
        "--model=own", "--model=other", "--limit=0.5", "--subset=a", "--data-dir=x:y",
        "--eval-set=b.seed=5", "--mode=infer", "--reuse", "--eval-show-wrong=1",
        "--judge-model=judge",
        "--dump-extract-rate", "--dump-res-length", "--dump-eval-details=false",
        "--eval-summarizer=evalscope", "--eval-gate=a>=1", "--eval-baseline=r", "--eval-max-drop=1",
        "--eval-shard=1/2", "--eval-json=j", "--eval-junit=strict",
        "--eval-max-tokens=9", "--eval-max-cost=0.5", "--eval-sample-timeout=3",
    )  # fmt: skip
    config = dataclasses.replace(config, saved=("a", "b"))
    assert [spec.name for spec in config.models] == ["own", "other"]
    assert config.reuse == "latest"
    wire = json.loads(json.dumps(config.to_wire()))
    assert wire["summarizer"]["type"] == "EvalScopeSummarizer"
    assert RunConfig.from_wire(wire) == dataclasses.replace(config, summarizer=None)
    changed = {
        f.name
        for f in dataclasses.fields(config)
        if getattr(config, f.name) != getattr(RunConfig(), f.name)
    }
    assert changed >= {f.name for f in dataclasses.fields(config)} - {
        "eval_mode", "wrong", "strict", "significance"
    }  # fmt: skip


def test_gates_come_from_the_command_line_else_from_the_table(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyprojecttoml('[tool.evalplug]\ngates = ["a>=1", "b/f1>=30%", "a>=1"]\n')
    assert read(pytester).gates == ("a>=1", "b/f1>=30%")
    monkeypatch.setenv("EVALPLUG_GATE", "c>2,d<3")
    assert read(pytester).gates == ("c>2", "d<3")
    assert read(pytester, "--eval-gate=e>=5", "--eval-gate", "f >= 6").gates == ("e>=5", "f >= 6")


@pytest.mark.parametrize("value", ['"a>=1"', "[1]", "{a = 1}"])
def test_gates_that_are_no_list(pytester: pytest.Pytester, value: str) -> None:
    pytester.makepyprojecttoml(f"[tool.evalplug]\ngates = {value}\n")
    with pytest.raises(ConfigError, match=r"tool\.evalplug\.gates is no list of texts"):
        read(pytester)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--eval-gate=gsm8k"], "--eval-gate: 'gsm8k' is no gate. Write NAME>=VALUE"),
        (["--eval-gate=a/accuracy>=0.7"], "write >=70, or >=0.7% if that is meant"),
        (["--eval-max-drop=1"], "--eval-max-drop: there is nothing to compare with"),
        (["--eval-significance=0.05"], "--eval-significance: there is nothing to compare with"),
        (["--eval-max-drop=1", "--eval-significance=0.05", "--eval-baseline=r"], "in two ways"),
        (["--eval-baseline=20200101_000000"], "--eval-baseline: no run '20200101_000000' in"),
        (["--eval-baseline=latest"], "--eval-baseline: no run 'latest' in"),
        (["--eval-baseline=empty"], "--eval-baseline: empty: no run"),
    ],
)
def test_gates_and_baselines_that_can_not_be(
    pytester: pytest.Pytester, args: list[str], message: str
) -> None:
    pytester.mkdir("empty")
    with pytest.raises(ConfigError) as error:
        read(pytester, *args)
    assert message in str(error.value)


def test_paths_are_relative_to_where_they_stand(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\nevalplug_data_dir = data:/abs\n")
    folder = pytester.mkdir("deep")
    monkeypatch.chdir(folder)
    assert read(pytester).data_dirs == (pytester.path / "data", Path("/abs"))
    assert read(pytester, "--data-dir=data").data_dirs == (folder / "data",)
    assert read(pytester, "--data-dir=~/d").data_dirs == (Path("~/d").expanduser(),)


@pytest.mark.parametrize("args", [["--model=smollm2"], ["--reuse"], ["--mode=eval"]])
def test_what_says_that_something_is_evaluated(pytester: pytest.Pytester, args: list[str]) -> None:
    assert read(pytester, *args).is_evaluation


def test_dumps(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def dumps(*args: str) -> tuple[bool, bool, bool]:
        config = read(pytester, *args)
        return config.dump_extract_rate, config.dump_res_length, config.dump_eval_details

    assert dumps() == (False, False, True)
    assert dumps("--dump-extract-rate", "--dump-res-length") == (True, True, True)
    assert dumps("--eval-dump-extract-rate", "--eval-dump-res-length", "--dump-eval-details") == (
        *(True, True, True),
    )
    assert dumps("--eval-dump-eval-details=False") == (False, False, False)
    monkeypatch.setenv("EVALPLUG_DUMP_EVAL_DETAILS", "0")
    pytester.makeini("[pytest]\nevalplug_dump_res_length = true\n")
    assert dumps() == (False, True, False)
    assert dumps("--dump-eval-details=true") == (False, True, True)
    with pytest.raises(ConfigError, match=r"--dump-eval-details: must be true or false .*'maybe'"):
        dumps("--dump-eval-details=maybe")


@pytest.mark.parametrize(
    ("option", "text", "accepted"),
    [
        ("--eval-max-tokens", "0", "a whole number, 1 or more"),
        ("--eval-max-tokens", "1.5", "a whole number, 1 or more"),
        ("--eval-max-cost", "0", "a number above 0"),
        ("--eval-max-cost", "nan", "a number above 0"),
        ("--eval-sample-timeout", "-1", "a number of seconds above 0"),
        ("--eval-sample-timeout", "inf", "a number of seconds above 0"),
    ],
)
def test_limits_that_are_none(
    pytester: pytest.Pytester, option: str, text: str, accepted: str
) -> None:
    with pytest.raises(ConfigError) as error:
        read(pytester, f"{option}={text}")
    assert str(error.value) == f"{option}: must be {accepted}, got '{text}'"


PRICED = """[tool.evalplug.models.dear]
backend = "openai"
model = "m"
price = { prompt = 0.15, completion = 0.6 }
"""


def test_a_cost_needs_the_price_of_all_that_is_asked(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(PRICED)
    cost = "--eval-max-cost=1.5"
    assert read(pytester, "--model=dear", "--judge-model=dear", cost).max_cost == 1.5
    with pytest.raises(ConfigError) as error:
        read(pytester, "--model=dear", "--model=qwen", cost)
    assert str(error.value) == (
        "--eval-max-cost: no price is known of model 'qwen'. Add it to [tool.evalplug.models.qwen]."
        " For example price = { prompt = 0.15, completion = 0.6 }, per million tokens"
    )
    with pytest.raises(ConfigError, match="no price is known of model 'smollm2'"):
        read(pytester, "--model=dear", "--judge-model=smollm2", cost)
    with pytest.raises(ConfigError, match="no --model is named"):
        read(pytester, cost)


def test_what_is_not_asked_needs_no_price(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(PRICED)
    cost = "--eval-max-cost=1.5"
    assert read(pytester, "--model=qwen", "--mode=eval", "--judge-model=dear", cost).judge
    assert read(pytester, "--model=dear", "--mode=infer", "--judge-model=qwen", cost).judge
    assert read(pytester, "--mode=viz", cost).stage == "viz"


def test_a_judge_that_a_run_is_scored_with_again_needs_its_price(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(PRICED)
    config = read(pytester, "--mode=eval", "--eval-max-cost=1")
    judged: dict[str, Any] = {"eval_mode": "gen", "limit": None, "subsets": []}
    dear = {"dear": {"backend": "openai", "model": "m", "price": {"prompt": 1, "completion": 2}}}
    assert config.following({**judged, "judge": dear}, {}).judge
    free = {"free": {"backend": "openai", "model": "m"}}
    with pytest.raises(ConfigError, match="no price is known of model 'free'"):
        config.following({**judged, "judge": free}, {})
