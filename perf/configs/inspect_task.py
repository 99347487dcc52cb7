from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate, prompt_template


def record_to_sample(record):
    return Sample(input=record["question"], target=record["answer"].split("#### ")[1])


@task
def gsm8k():
    return Task(
        dataset=json_dataset("DATA/test.jsonl", record_to_sample),
        solver=[prompt_template("Question: {prompt}\nAnswer:"), generate()],
        scorer=match(numeric=True),
    )
