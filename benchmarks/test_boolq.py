"""BoolQ: yes/no questions that people asked, each with a passage that answers it.

Paper     Clark et al. 2019, "BoolQ: Exploring the Surprising Difficulty of Natural Yes/No
          Questions", https://arxiv.org/abs/1905.10044
Licence   CC BY-SA 3.0
Data      hub google/boolq: validation 3,270 (test isn't there), train 9,427 (for shots)
Prompt    ppl, ll: that of lm-evaluation-harness, no shots: passage, "Question: ...?", "Answer:"
          and no or yes; gen: the same, asked for yes or no
Metric    accuracy: of the word in the reply (gen: the last claimed, or else the one that it
          begins or ends with), of the likelier word (ppl, ll)
Score     BLOOM 7B1, ll: 62.9 (EleutherAI/lm-evaluation-harness, results/bloom)
Differs   the harness reads SuperGLUE's copy, where the passage begins with its article's title;
          that copy's column label is read too, as are query, choices, gold of others. Tested
          on 500 rows
"""

from __future__ import annotations

import re
from typing import Any

from pytest_evalplug import (
    BenchmarkMeta,
    MultiChoiceAdapter,
    Sample,
    Tags,
    TaskState,
    postprocessors,
    register_benchmark,
)

CHOICES = ["no", "yes"]
AND = r"[^\w/]*(?:or\b|and\b|/)\W*"
"""What makes both words one: "yes or no" is no answer."""
FIRST_WORD = re.compile(rf"\W*(no|yes)\b(?!{AND}(?:yes|no)\b)", re.IGNORECASE)
LAST_WORD = re.compile(rf"\b(?:(?:yes|no){AND}(?:yes|no)|(no|yes))\W*$", re.IGNORECASE)


@register_benchmark(
    BenchmarkMeta(
        name="boolq",
        pretty_name="BoolQ",
        description="Natural yes/no questions about a passage from Wikipedia.",
        description_zh="根据一段维基百科文字回答是非题。",
        tags=[Tags.READING, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1905.10044",
        license="CC-BY-SA-3.0",
        dataset_id="google/boolq",
        eval_split="validation",
        train_split="train",
        prompt_template="{passage}\nQuestion: {question}?\nAnswer yes or no.\nAnswer:",
        choice_prompt_template="{passage}\nQuestion: {question}?\nAnswer:",
        choice_template=" {choice}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestBoolQ(MultiChoiceAdapter):
    """One item a question."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, of SuperGLUE, or of a copy with query, choices and gold."""
        if "query" in record:
            passage, _, question = record["query"].rpartition("\nQuestion: ")
            passage, right = passage.removeprefix("Passage: "), record["gold"]
        else:
            passage, question = record["passage"], record["question"]
            right = record["label"] if "label" in record else record["answer"]
        return Sample(
            input=question.removesuffix("?"),
            choices=CHOICES,
            target="AB"[right],
            metadata={"passage": passage, "context_id": passage},
        )

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add the passage."""
        return {**super().template_values(sample), **(sample.metadata or {})}

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a question with its answer as a word."""
        answer = CHOICES["AB".index(sample.target)]
        return f"{self.format_prompt_template(sample)} {answer}"

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        """Return the letter that stands for the reply's yes or no."""
        claimed = postprocessors.get("bbh-freeform")(prediction)
        reply = postprocessors.get("think")(prediction)
        first = FIRST_WORD.fullmatch(claimed) or FIRST_WORD.match(reply)
        word = first or LAST_WORD.search(reply)
        return "AB"[CHOICES.index(word[1].lower())] if word and word[1] else ""
