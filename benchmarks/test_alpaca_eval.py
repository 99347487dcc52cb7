"""AlpacaEval 2: requests to an assistant, each reply compared with that of GPT-4 Turbo.

Paper     Dubois et al. 2024, "Length-Controlled AlpacaEval: A Simple Way to Debias Automatic
          Evaluators", https://arxiv.org/abs/2404.04475
Licence   CC BY-NC 4.0 (the authors' repository)
Data      hub tatsu-lab/alpaca_eval, subset alpaca_eval_gpt4_baseline: eval 805, the only split;
          the hub has it with a loading script, which is not run: put its file
          alpaca_eval_gpt4_baseline.json at <data_dir>/alpaca_eval/eval.json. Not tested on the
          real data here
Prompt    the data's own, no shots
Metric    win_rate against the row's "output", of gpt-4-1106-preview, by a judge model
          (--judge-model) that is asked in both orders, so that a liking for the first reply
          cancels: a preference that goes with the order is a tie, and a tie is half a win
Score     none known under exactly this setting; Meta-Llama-3-8B-Instruct 22.6 on the authors'
          leaderboard (22.9 length-controlled), by gpt-4-1106-preview
Differs   the authors ask once, in a random order, weigh the judge's probabilities, and rank by
          a win rate in which the length of the reply is controlled for; the judge's prompt is ours
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="alpaca_eval",
        pretty_name="AlpacaEval 2",
        description="Requests to an assistant, each reply compared with a strong model's.",
        description_zh="由评审模型按两种顺序将回答与强基线模型的回答两两比较。",
        tags=[Tags.INSTRUCTION_FOLLOWING],
        paper_url="https://arxiv.org/abs/2404.04475",
        license="CC-BY-NC-4.0",
        dataset_id="tatsu-lab/alpaca_eval",
        subset_list=["alpaca_eval_gpt4_baseline"],
        eval_split="eval",
        metric_list=["pairwise"],
        generation=dict(max_tokens=2048, temperature=0.0),
    )
)
class TestAlpacaEval(DefaultDataAdapter):
    """The reference is the baseline's reply."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the request."""
        return Sample(
            input=record["instruction"],
            target=record["output"],
            metadata={"dataset": record["dataset"]},
        )
