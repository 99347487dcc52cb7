"""WinoGrande: a sentence with a blank, and the two names or things that may fill it.

Paper     Sakaguchi et al. 2019, "WinoGrande: An Adversarial Winograd Schema Challenge at Scale",
          https://arxiv.org/abs/1907.10641
Licence   CC BY
Data      hub allenai/winogrande, subset winogrande_xl: validation 1,267 (the labels of test are
          hidden), train 40,398 (for shots)
Prompt    ppl, ll: partial evaluation (Trinh & Le 2018, arXiv:1806.02847), as in
          lm-evaluation-harness, no shots: the sentence up to the filled blank is the context,
          one for each choice, and what follows is scored; gen: ours, lettered choices
Metric    accuracy
Score     BLOOM 7B1, ll: 64.3 (EleutherAI/lm-evaluation-harness, results/bloom); GPT-J 6B, ll:
          65.3 (README of kingoflolz/mesh-transformer-jax); Pythia 12B, ll with 5 shots: 64.2
          (EleutherAI/pythia, evals)
Differs   columns context_options, continuation, gold, which some copies have, are read too: the
          choices are then what the contexts differ in
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Any

from pytest_evalplug import (
    BenchmarkMeta,
    LoglikelihoodQuery,
    MultiChoiceAdapter,
    Sample,
    Tags,
    register_benchmark,
)

BLANK = "_"


@register_benchmark(
    BenchmarkMeta(
        name="winogrande",
        pretty_name="WinoGrande",
        description="Which of two names or things a sentence's blank stands for.",
        description_zh="判断句子的空格指的是两个人或物中的哪一个。",
        tags=[Tags.COMMONSENSE, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1907.10641",
        license="CC-BY",
        dataset_id="allenai/winogrande",
        subset_list=["winogrande_xl"],
        eval_split="validation",
        train_split="train",
        prompt_template=(
            "Sentence: {question}\n{choices}\n"
            "Answer with the letter of the choice that the blank (_) stands for.\nAnswer:"
        ),
        choice_prompt_template="{question}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nSentence:"]),
    )
)
class TestWinoGrande(MultiChoiceAdapter):
    """One item a sentence."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with two contexts and what follows."""
        if "context_options" in record:
            contexts = record["context_options"]
            before = shared_words(*contexts)
            return Sample(
                input=f"{before}{BLANK} {record['continuation']}",
                choices=[context.removeprefix(before) for context in contexts],
                target="AB"[record["gold"]],
            )
        return Sample(
            input=record["sentence"],
            choices=[record["option1"], record["option2"]],
            target={"1": "A", "2": "B"}.get(record["answer"], ""),
        )

    def continuations(self, sample: Sample) -> list[str]:
        """Return what follows the blank, the same for each choice."""
        return [halves(sample)[1] for _ in sample.choices or ()]

    def build_query(
        self, sample: Sample, subset: str, num_shots: int | None = None
    ) -> LoglikelihoodQuery:
        """Give each choice a context of its own: the sentence up to the filled blank."""
        ask, (before, _) = super().build_query, halves(sample)
        filled = [replace(sample, input=f"{before}{choice}") for choice in sample.choices or ()]
        contexts = tuple(ask(each, subset, num_shots).context for each in filled)
        return replace(ask(sample, subset, num_shots), contexts=contexts)

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a sentence with its letter, or in ppl and ll the whole, true sentence."""
        if self.options.eval_mode == "gen":
            return super().sample_to_fewshot(sample)
        before, after = halves(sample)
        return f"{before}{(sample.choices or [])['AB'.index(sample.target)]}{after}"


def halves(sample: Sample) -> tuple[str, str]:
    """Return what stands before the blank, and what follows it, after one space."""
    before, _, after = str(sample.input).partition(BLANK)
    return before, f" {after.strip()}"


def shared_words(first: str, second: str) -> str:
    """Return the words that both texts begin with, each with the space after it."""
    pairs = zip(first.split(" "), second.split(" "), strict=False)
    return "".join(f"{word} " for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
