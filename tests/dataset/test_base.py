from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DataAdapter, DefaultDataAdapter
from pytest_evalplug.dataset.base import answer_text, question_text
from pytest_evalplug.dataset.meta import BenchmarkMeta, register_benchmark
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.types import AggScore, ModelOutput, Report, Sample, TaskState

from .conftest import QA, Make


def test_the_metadata_becomes_attributes_and_init_has_the_last_word() -> None:
    @register_benchmark(BenchmarkMeta(name="demo", few_shot_num=3, system_prompt="Be brief."))
    class Demo(QA):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.reformat_subset = True

    adapter = Demo()
    assert (adapter.name, adapter.few_shot_num, adapter.reformat_subset) == ("demo", 3, True)
    assert adapter.meta.reformat_subset is False
    other = Demo(benchmark_meta=adapter.meta.override({"few_shot_num": 0}))
    assert (other.few_shot_num, other.system_prompt) == (0, "Be brief.")


def test_every_field_of_the_metadata_is_declared_on_the_adapter() -> None:
    undeclared = {"description", "description_zh", "paper_url", "license"}
    fields = set(BenchmarkMeta.__dataclass_fields__)
    assert fields - set(DataAdapter.__annotations__) == undeclared


def test_without_metadata() -> None:
    with pytest.raises(ConfigError, match=r"^m\.py: QA has no metadata\. Decorate it"):
        QA(options=AdapterOptions(where="m.py"))


def test_unknown_arguments() -> None:
    with pytest.raises(TypeError, match="unknown arguments limit"):
        QA(benchmark_meta=BenchmarkMeta(name="x"), limit=3)


def test_overrides_tells_authors_methods_from_ours(make: Make) -> None:
    class Between(QA):
        def match_score(self, *args: Any) -> Any: ...

    class Child(Between):
        pass

    class Multi(MultiChoiceAdapter):
        def record_to_sample(self, record: dict[str, Any]) -> Sample:
            return Sample("", "A")

    assert make(cls=Child).overrides("match_score")
    assert not make().overrides("match_score")
    assert make(cls=Multi).overrides("record_to_sample")
    assert not make(cls=Multi).overrides("extract_answer")
    assert not make(cls=Multi).overrides("finish_sample")


def test_the_test_method_only_checks() -> None:
    class Evaluation:
        checked = 0

        def check(self) -> None:
            self.checked += 1

    evaluation = Evaluation()
    QA(benchmark_meta=BenchmarkMeta(name="x")).test_sample(evaluation)
    assert evaluation.checked == 1


def test_inference_goes_through_its_hooks(make: Make) -> None:
    log: list[str] = []

    class Model:
        name = "fake"

        def generate(self, prompt: Any) -> ModelOutput:
            log.append(f"asked {prompt}")
            return ModelOutput("four")

    class Hooked(QA):
        def _on_inference_start(self, model: Any, sample: Sample) -> None:
            log.append("start")

        def _on_inference_end(
            self, model: Any, sample: Sample, model_output: ModelOutput, output_dir: str
        ) -> TaskState:
            log.append(f"end in {output_dir}")
            return super()._on_inference_end(model, sample, model_output, output_dir)

    sample = Sample("2 + 2?", "4", id="s1", index="7", metadata={"k": 1})
    state = make(cls=Hooked).run_inference(Model(), sample, "out")
    assert log == ["start", "asked 2 + 2?", "end in out"]
    assert (state.model, state.output.completion) == ("fake", "four")
    assert (state.sample_id, state.group_id, state.metadata) == ("s1", "7", {"k": 1})
    assert state.messages == [{"role": "user", "content": "2 + 2?"}]


def test_the_report_goes_through_its_hooks(make: Make) -> None:
    seen: list[Any] = []

    class Hooked(QA):
        def _on_generate_report(self, scores: Any, model_name: str) -> Report:
            report = super()._on_generate_report(scores, model_name)
            report.metadata["note"] = "mine"
            return report

        def _on_generate_report_end(self, report: Report, output_dir: str) -> None:
            seen.append((report.metadata, output_dir))

    scores = [AggScore("accuracy", 50.0, "default", 2)]
    report = make(cls=Hooked).generate_report(scores, "fake", "out")
    assert (report.benchmark, report.model, report.scores) == ("demo", "fake", scores)
    assert seen == [({"note": "mine"}, "out")]


def test_scoring_methods_ask_the_scorer(make: Make) -> None:
    adapter: DefaultDataAdapter = make(eval_cfg={"evaluator": "accuracy"})
    sample = Sample("2 + 2?", "four", id="s", index="0")
    state = TaskState("m", sample, [], ModelOutput("four"), sample_id="s", group_id="0")
    assert adapter.scorer is adapter.scorer
    assert adapter.filter_prediction("four", state) == "four"
    assert adapter.match_score("four", "four", "four", state).value == {"accuracy": 1.0}
    with pytest.raises(EvalplugError, match="Name one: --judge-model"):
        adapter.llm_match_score("five", "five", "four", state)
    result = adapter.calculate_metrics(state)
    assert result.score.value == {"accuracy": 1.0}
    (metric,) = adapter.aggregate_scores([result, result])
    assert (metric.metric, metric.value, metric.num_samples) == ("accuracy", 100.0, 2)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("plain", "plain"),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "a"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "b"),
        ([{"role": "system", "content": "a"}], ""),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}]}], ""),
    ],
)
def test_question_text(asked: Any, text: str) -> None:
    assert question_text(Sample(asked, "")) == text


@pytest.mark.parametrize(
    ("target", "text"), [("B", "B"), (0, "0"), (False, "False"), (["x", "y"], "x"), ([], "")]
)
def test_answer_text(target: Any, text: str) -> None:
    assert answer_text(Sample("", target)) == text
