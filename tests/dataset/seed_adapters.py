"""The two adapters of EvalScope's tutorial (shared/seeds/004), with only the imports changed.

(And MMLU-Pro's f-string with a backslash inside, which needs Python 3.12; and GSM8K's
``extract_answer`` stands without the tutorial's RegexFilter.) In a module of their own: as
imported classes they are used here, not collected.
"""

from __future__ import annotations

import re
from typing import Any

from pytest_evalplug import (
    BenchmarkMeta,
    DefaultDataAdapter,
    MultiChoiceAdapter,
    Sample,
    Tags,
    TaskState,
    register_benchmark,
)

PROMPT_TEMPLATE = """
Solve the following math problem step by step. The last line of your response should be of the \
form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the problem.

{question}

Remember to put your answer on its own line at the end in the form "ANSWER: $ANSWER" (without \
quotes) where $ANSWER is the answer to the problem, and you do not need to use a \\boxed command.

Reasoning:
""".lstrip()


@register_benchmark(
    BenchmarkMeta(
        name="gsm8k",
        pretty_name="GSM8K",
        dataset_id="AI-ModelScope/gsm8k",
        tags=[Tags.MATH, Tags.REASONING],
        description="Grade school math problems.",
        subset_list=["main"],
        few_shot_num=4,
        train_split="train",
        eval_split="test",
        metric_list=["acc"],
        prompt_template=PROMPT_TEMPLATE,
    )
)
class GSM8KAdapter(DefaultDataAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        DELIM = "####"  # noqa: N806
        question = record["question"]
        answer = record["answer"].split(DELIM)
        target = answer.pop().strip()
        reasoning = DELIM.join(answer)
        return Sample(input=question, target=target, metadata={"reasoning": reasoning.strip()})

    def sample_to_fewshot(self, sample: Sample) -> str:
        if sample.metadata:
            reasoning = sample.metadata["reasoning"]
            return f"{sample.input}\n\nReasoning:\n{reasoning}\n\nANSWER: {sample.target}"
        else:
            return ""

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        found = [m[0] for m in re.finditer(r"(-?[0-9.,]{2,})|(-?[0-9]+)", prediction)]
        return found[-1].replace(",", "").replace("+", "").strip().strip(".") if found else ""


USER_PROMPT_TEMPLATE = """Answer the following multiple choice question. The last line of your \
response should be of the following format: 'ANSWER: $LETTER' (without quotes) where LETTER is \
one of {letters}. Think step by step before answering.

Question:
{question}
Options:
{choices}
""".lstrip()

SUBSET_LIST = ["computer science", "math", "chemistry", "law"]


@register_benchmark(
    BenchmarkMeta(
        name="mmlu_pro",
        pretty_name="MMLU-Pro",
        tags=[Tags.MULTIPLE_CHOICE, Tags.KNOWLEDGE],
        description="Multiple-choice questions across various subjects.",
        dataset_id="modelscope/MMLU-Pro",
        subset_list=SUBSET_LIST,
        metric_list=["acc"],
        few_shot_num=5,
        train_split="validation",
        eval_split="test",
        prompt_template=USER_PROMPT_TEMPLATE,
    )
)
class MMLUProAdapter(MultiChoiceAdapter):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reformat_subset = True

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        return Sample(
            input=record["question"],
            choices=record["options"],
            target=record["answer"],
            subset_key=record["category"].lower(),
            metadata={
                "cot_content": record["cot_content"],
                "subject": record["category"].lower(),
                "question_id": record["question_id"],
            },
        )

    def sample_to_fewshot(self, sample: Sample) -> str:
        q_str = f"""Question:\n{sample.input!s}"""
        options = sample.choices if sample.choices is not None else []
        opt_str_list = []
        for i, opt in enumerate(options):
            opt_str_list.append(f"""{chr(65 + i)} {opt}""")
        opt_str = "Options:\n" + "\n".join(opt_str_list)
        ans_str = sample.metadata["cot_content"] if sample.metadata is not None else ""
        ans_str = ans_str.replace("The answer is", "ANSWER:")
        ans_opt = ans_str.split("ANSWER:")[-1].split(".")[0].strip().strip("(").strip(")")
        ans_str = ans_str.replace(f"ANSWER: ({ans_opt})", f"ANSWER: {ans_opt}")
        return "\n".join([q_str, opt_str, ans_str])
