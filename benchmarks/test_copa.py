"""COPA: the more plausible of two causes or effects.

Paper     Roemmele et al. 2011, "Choice of Plausible Alternatives: An Evaluation of Commonsense
          Causal Reasoning", AAAI Spring Symposium; in SuperGLUE, https://arxiv.org/abs/1905.00537
Licence   BSD-2-Clause
Data      hub aps/super_glue, subset copa: validation 100 (the labels of test are hidden), train
          400 (for shots)
Prompt    ppl, ll: that of lm-evaluation-harness, no shots: the premise, "because" or
          "therefore", and each alternative goes on from it; gen: ours, lettered, with COPA's
          question
Metric    accuracy; in ll also normalised by the alternative's bytes
Score     BLOOM 7B1, ll: 72.0 (EleutherAI/lm-evaluation-harness, results/bloom)
Differs   the harness puts two spaces before an alternative; columns query, choices, gold, which
          some copies have, are read too
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark

CONNECTORS = {"cause": "because", "effect": "therefore"}
QUESTIONS = {
    "because": "What was the cause of this?",
    "therefore": "What happened as a result?",
}


@register_benchmark(
    BenchmarkMeta(
        name="copa",
        pretty_name="COPA",
        description="The more plausible of two causes or effects of what happened.",
        description_zh="判断两个原因或结果中哪一个更合理。",
        tags=[Tags.COMMONSENSE, Tags.REASONING, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1905.00537",
        license="BSD-2-Clause",
        dataset_id="aps/super_glue",
        subset_list=["copa"],
        eval_split="validation",
        train_split="train",
        prompt_template=(
            "Premise: {question}. {asked}\n{choices}\n"
            "Answer with the letter of the more plausible alternative.\nAnswer:"
        ),
        choice_prompt_template="{question} {connector}",
        choice_template=" {choice}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nPremise:"]),
    )
)
class TestCOPA(MultiChoiceAdapter):
    """One item a premise."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with query, choices and gold."""
        if "query" in record:
            premise, _, connector = record["query"].rpartition(", ")
            choices, right = record["choices"], record["gold"]
        else:
            premise, connector = record["premise"].strip()[:-1], CONNECTORS[record["question"]]
            choices, right = [record["choice1"], record["choice2"]], record["label"]
        return Sample(
            input=premise,
            choices=[choice[0].lower() + choice[1:] for choice in choices],
            target="AB"[right],
            metadata={"connector": connector},
        )

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add the connector, and the question that it answers."""
        connector = (sample.metadata or {})["connector"]
        return {
            **super().template_values(sample),
            "connector": connector,
            "asked": QUESTIONS[connector],
        }
