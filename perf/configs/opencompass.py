from opencompass.datasets import (
    Gsm8kEvaluator,
    GSM8KDataset,
    gsm8k_dataset_postprocess,
    gsm8k_postprocess,
)
from opencompass.models import OpenAI
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

question = dict(role="HUMAN", prompt="Question: {question}\nAnswer:")
datasets = [
    dict(
        abbr="gsm8k",
        type=GSM8KDataset,
        path="DATA",
        reader_cfg=dict(input_columns=["question"], output_column="answer"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template=dict(round=[question])),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer, max_out_len=512),
        ),
        eval_cfg=dict(
            evaluator=dict(type=Gsm8kEvaluator),
            pred_postprocessor=dict(type=gsm8k_postprocess),
            dataset_postprocessor=dict(type=gsm8k_dataset_postprocess),
        ),
    )
]
roles = [dict(role="HUMAN", api_role="HUMAN"), dict(role="BOT", api_role="BOT", generate=True)]
models = [
    dict(
        abbr="fake",
        type=OpenAI,
        path="fake",
        openai_api_base="URL/chat/completions",
        tokenizer_path="words",
        meta_template=dict(round=roles),
        query_per_second=100_000,
        max_workers=IN_FLIGHT,
        batch_size=1319,
        max_out_len=512,
        temperature=0.0,
    )
]
