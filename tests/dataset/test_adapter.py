from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalplug.dataset.dataset_dict import DatasetDict
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import ConfigError, DataError, NotApplicable
from pytest_evalplug.types import LoglikelihoodQuery, Prompt, Sample

from .conftest import QA, Make, Rows

TRAIN: list[dict[str, Any]] = [{"q": f"t{n}", "a": f"{n}"} for n in range(6)]
TEST: Rows = [{"q": "What is {x}?", "a": "42", "choices": ["41", "42"]}, {"q": "Why %s?", "a": "$"}]
FILES: dict[str, Rows] = {"test.jsonl": TEST, "train.jsonl": TRAIN}


def first(adapter: Any) -> tuple[Sample, str]:
    return adapter.samples("default")[0], "default"


def test_the_question_alone_by_default(make: Make) -> None:
    adapter = make(FILES)
    assert adapter.build_prompt(*first(adapter)) == "What is {x}?"


def test_template_and_shots(make: Make) -> None:
    adapter = make(FILES, train_split="train", few_shot_num=2, prompt_template="Q: {question}\nA:")
    prompt = adapter.build_prompt(*first(adapter))
    assert prompt == "Q: t0\nA: 0\n\nQ: t1\nA: 1\n\nQ: What is {x}?\nA:"
    assert adapter.build_prompt(*first(adapter), 1) == "Q: t0\nA: 0\n\nQ: What is {x}?\nA:"
    assert adapter.build_prompt(*first(adapter), 0) == "Q: What is {x}?\nA:"
    assert adapter.build_prompt(*first(adapter), 9) == prompt
    assert adapter.few_shot_num == 2


def test_few_shot_template(make: Make) -> None:
    template = "Solve.\n{fewshot}\n--\n{question} | {prompt} {unknown}"
    adapter = make(FILES, train_split="train", few_shot_num=1, few_shot_prompt_template=template)
    prompt = adapter.build_prompt(*first(adapter))
    assert prompt == "Solve.\nt0 0\n--\nWhat is {x}? | What is {x}? {unknown}"


def test_a_header_stands_above_shots_and_question(make: Make) -> None:
    header = "About {question}\n\n"
    adapter = make(FILES, train_split="train", few_shot_num=1, prompt_header=header)
    asked = adapter.build_prompt(*first(adapter))
    assert asked == "About What is {x}?\n\nt0 0\n\nWhat is {x}?"
    assert adapter.build_prompt(*first(adapter), 0) == "About What is {x}?\n\nWhat is {x}?"
    assert adapter.prompt_config("default")["prompt_header"] == header


def test_a_template_that_holds_its_shots_needs_no_train_split(make: Make) -> None:
    adapter = make(FILES, few_shot_num=3, few_shot_prompt_template="1 + 1 = 2\n{question}")
    assert adapter.build_prompt(*first(adapter)) == "1 + 1 = 2\nWhat is {x}?"


def test_shots_without_a_source_are_refused_at_collection(make: Make) -> None:
    with pytest.raises(ConfigError) as error:
        make(FILES, few_shot_num=3).samples("default")
    assert str(error.value).startswith("test_demo.py: few_shot_num is 3, but there is no train_spl")


def test_too_few_shots_are_said_at_collection(make: Make) -> None:
    with pytest.raises(DataError, match=r"9 shots are asked for, .*'train'.* has 6 samples"):
        make(FILES, few_shot_num=9, train_split="train").samples("default")


def test_a_missing_train_split_is_said_at_collection(make: Make) -> None:
    with pytest.raises(DataError, match="no data for demo, subset 'default', split 'dev'"):
        make(FILES, few_shot_num=1, train_split="dev").samples("default")
    assert make(FILES, few_shot_num=0, train_split="dev").samples("default")


def test_shots_from_the_evaluated_split_leave_the_sample_out(make: Make) -> None:
    files = {"test.jsonl": TRAIN}
    adapter = make(files, few_shot_num=2, train_split="test")
    for sample in adapter.samples("default"):
        prompt = adapter.build_prompt(sample, "default")
        assert prompt.count(str(sample.input)) == 1
        assert len(prompt.split("\n\n")) == 3


def test_drawn_shots_depend_on_seed_and_sample_only(make: Make) -> None:
    settings: dict[str, Any] = dict(few_shot_num=3, train_split="train", few_shot_random=True)
    files = {"test.jsonl": TRAIN[:4], "train.jsonl": [{"q": f"s{n}", "a": "x"} for n in range(50)]}
    whole = make(files, **settings)
    prompts = [whole.build_prompt(s, "default") for s in whole.samples("default")]
    assert len({p.rpartition("\n\n")[0] for p in prompts}) == 4
    other = make(files, **settings, shuffle=True, options={"limit": 2})
    for sample in reversed(other.samples("default")):
        assert other.build_prompt(sample, "default") == prompts[int(sample.index)]
    reseeded = make(files, **settings, seed=1)
    assert reseeded.build_prompt(*first(reseeded)) != prompts[0]


def test_filtered_samples_are_no_shots(make: Make) -> None:
    class NotTheFirst(QA):
        def sample_filter(self, sample: Sample) -> bool:
            return sample.input != "t0"

    adapter = make(FILES, NotTheFirst, train_split="train", few_shot_num=1)
    assert adapter.build_prompt(*first(adapter)) == "t1 1\n\nWhat is {x}?"


def test_system_prompt(make: Make) -> None:
    adapter = make(FILES, system_prompt="Be {brief}.", prompt_template="Q: {question}")
    assert adapter.build_prompt(*first(adapter)) == [
        {"role": "system", "content": "Be {brief}."},
        {"role": "user", "content": "Q: What is {x}?"},
    ]


CHAT = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": "Why?"},
]


def test_conversations(make: Make) -> None:
    files = {"test.jsonl": [{"q": CHAT, "a": "x"}]}
    assert make(files).build_prompt(*first(make(files))) == CHAT
    adapter = make(files, prompt_template="Q: {question}", system_prompt="S")
    assert adapter.build_prompt(*first(adapter)) == [
        {"role": "system", "content": "S"},
        *CHAT[:2],
        {"role": "user", "content": "Q: Why?"},
    ]
    assert adapter.samples("default")[0].input == CHAT


def test_a_conversation_keeps_its_system_prompt_and_its_pictures(make: Make) -> None:
    chat = [
        {"role": "system", "content": "own"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
    ]
    adapter = make(
        {"test.jsonl": [{"q": chat, "a": "x"}]}, system_prompt="S", prompt_template="Q: {question}"
    )
    assert adapter.build_prompt(*first(adapter)) == chat


def test_queries(make: Make) -> None:
    adapter = make(FILES, train_split="train", few_shot_num=1, prompt_template="Q: {question}\nA:")
    query = LoglikelihoodQuery("Q: t0\nA: 0\n\nQ: What is {x}?\nA:", (" A", " B"))
    assert adapter.build_query(*first(adapter)) == query
    assert adapter.build_query(*first(adapter), 0).context == "Q: What is {x}?\nA:"


def test_queries_have_templates_of_their_own(make: Make) -> None:
    adapter = make(
        FILES,
        train_split="train",
        few_shot_num=1,
        prompt_template="Think. {question}",
        choice_prompt_template="Q: {question} A:",
        choice_template=" {choice} ({letter})",
    )
    query = adapter.build_query(*first(adapter))
    assert query.context == "Q: t0 A: 0\n\nQ: What is {x}? A:"
    assert query.continuations == (" 41 (A)", " 42 (B)")
    assert adapter.build_prompt(*first(adapter)) == "Think. t0 0\n\nThink. What is {x}?"


def test_without_choices_there_is_no_query(make: Make) -> None:
    adapter = make({"test.jsonl": TRAIN}, options={"eval_mode": "ll"})
    with pytest.raises(NotApplicable, match="demo asks for a free answer"):
        adapter.build_query(*first(adapter))
    with pytest.raises(NotApplicable, match="has no choices to compare in ll mode"):
        adapter.check_mode("default")
    make(FILES, options={"eval_mode": "ll"}).check_mode("default")
    make(options={"eval_mode": "gen"}).check_mode("default")


def test_the_reference_may_be_what_is_likely(make: Make) -> None:
    class Reference(QA):
        modes = ("gen", "ll")

        def continuations(self, sample: Sample) -> list[str]:
            return [f" {sample.target}."]

    adapter = make({"test.jsonl": TRAIN}, Reference, options={"eval_mode": "ll"})
    adapter.check_mode("default")
    assert adapter.build_query(*first(adapter)) == LoglikelihoodQuery("t0", (" 0.",))
    assert "sample.target" in adapter.prompt_config("default")["methods"]["continuations"]
    with pytest.raises(NotApplicable, match=r"is not for ppl mode. Run it with --eval-mode=ll"):
        make(cls=Reference, options={"eval_mode": "ppl"}).check_mode("default")


def test_every_step_may_be_overridden(make: Make) -> None:
    class Own(QA):
        def format_prompt_template(self, sample: Sample) -> str:
            return f"<{sample.input}>"

        def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
            return f"{fewshot}|{self.format_prompt_template(sample)}"

        def few_shots(self, sample: Sample, subset: str) -> list[str]:
            return ["one", "two", "three"][: self.few_shot_num]

    class Whole(QA):
        def process_sample_input(self, sample: Sample, subset: str) -> Prompt:
            return f"{subset}: {sample.input}"

    adapter = make(FILES, Own, few_shot_num=3)
    assert adapter.build_prompt(*first(adapter)) == "one\n\ntwo\n\nthree|<What is {x}?>"
    assert adapter.build_prompt(*first(adapter), 1) == "one|<What is {x}?>"
    adapter = make(FILES, Whole)
    assert adapter.build_prompt(*first(adapter)) == "default: What is {x}?"


def test_shots_may_come_from_elsewhere(make: Make) -> None:
    class Own(QA):
        def load_fewshot_subset(self, subset: str) -> list[Sample]:
            return [Sample(f"from {subset}", "y")]

    adapter = make(FILES, Own, few_shot_num=1)
    assert adapter.build_prompt(*first(adapter)) == "from default y\n\nWhat is {x}?"


def test_shots_of_one_table_are_those_of_the_subset(make: Make) -> None:
    table = [{"q": f"{key}{n}", "a": "x", "key": key} for key in "ab" for n in range(2)]
    adapter = make(
        {"test.jsonl": table, "dev.jsonl": [{**r, "q": f"shot {r['q']}"} for r in table]},
        subset_list=["a", "b"],
        reformat_subset=True,
        few_shot_num=2,
        train_split="dev",
    )
    sample = adapter.samples("b")[0]
    assert adapter.build_prompt(sample, "b") == "shot b0 x\n\nshot b1 x\n\nb0"


def test_the_version_covers_what_decides_a_prompt(make: Make) -> None:
    base: dict[str, Any] = dict(few_shot_num=1, train_split="train")
    config = make(FILES, **base).prompt_config("default")
    assert json.loads(json.dumps(config)) == config
    assert make(FILES, **base).prompt_config("default") == config
    changes: list[dict[str, Any]] = [
        {"few_shot_num": 2},
        {"few_shot_random": True},
        {"prompt_template": "Q: {question}"},
        {"few_shot_prompt_template": "{fewshot}{prompt}"},
        {"system_prompt": "S"},
        {"generation": {"temperature": 0.5}},
        {"seed": 1},
        {"eval_split": "train"},
        {"shuffle_choices": True},
        {"options": {"eval_mode": "ll"}},
    ]
    for change in changes:
        assert make(FILES, **{**base, **change}).prompt_config("default") != config, change
    unrelated: list[dict[str, Any]] = [
        {"description": "x"},
        {"dataset_id": "elsewhere"},
        {"options": {"limit": 1}},
    ]
    for change in unrelated:
        assert make(FILES, **base, **change).prompt_config("default") == config, change


def test_the_version_covers_the_authors_methods(make: Make) -> None:
    class Other(QA):
        def sample_to_fewshot(self, sample: Sample) -> str:
            return "other"

    methods = make(FILES, Other).prompt_config("default")["methods"]
    assert set(methods) == {"record_to_sample", "sample_to_fewshot"}
    assert 'return "other"' in methods["sample_to_fewshot"]


class Shadowing(MultiChoiceAdapter):
    """Overrides what else decides a prompt, and changes nothing by it."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        return Sample(record["q"], "A", choices=["x", "y"])

    def load(self) -> DatasetDict:
        return super().load()

    def load_from_disk(self, subset: str | None, split: str) -> Any:
        return super().load_from_disk(subset, split)

    def load_subset(self, subset: str) -> list[Sample]:
        return super().load_subset(subset)

    def sample_filter(self, sample: Sample) -> bool:
        return super().sample_filter(sample)

    def format_choices(self, sample: Sample) -> str:
        return super().format_choices(sample)

    @property
    def default_prompt(self) -> str:
        return super().default_prompt

    @property
    def default_choice_prompt(self) -> str:
        return super().default_choice_prompt

    def build_prompt(self, sample: Sample, subset: str, num_shots: int | None = None) -> Prompt:
        return super().build_prompt(sample, subset, num_shots)

    def build_query(
        self, sample: Sample, subset: str, num_shots: int | None = None
    ) -> LoglikelihoodQuery:
        return super().build_query(sample, subset, num_shots)


def test_the_version_covers_every_method_on_the_way_to_a_prompt(make: Make) -> None:
    for mode, other in (("gen", "build_query"), ("ll", "build_prompt")):
        config = make(FILES, Shadowing, options={"eval_mode": mode}).prompt_config("default")
        own = {n for n, v in vars(Shadowing).items() if callable(v) or isinstance(v, property)}
        assert set(config["methods"]) == own - {other}
        assert all(f"def {name}(" in source for name, source in config["methods"].items())


def test_likelihood_modes_have_a_version_of_their_own(make: Make) -> None:
    options = {"eval_mode": "ppl"}
    config = make(FILES, options=options).prompt_config("default")
    assert "generation" not in config
    for change in [{"choice_template": "{choice}"}, {"choice_prompt_template": "{question}?"}]:
        changed: dict[str, Any] = {**change}
        assert make(FILES, options=options, **changed).prompt_config("default") != config
        assert make(FILES, **changed).prompt_config("default") == make(FILES).prompt_config(
            "default"
        )
    heated = make(FILES, options=options, generation={"temperature": 1.0})
    assert heated.prompt_config("default") == config
