"""Small random models and tokenizers, made in a second, for what the real one does not do."""

from __future__ import annotations

__all__ = ["CHATML", "tiny_model", "tiny_tokenizer"]

from pathlib import Path
from typing import Any

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEXT = [
    "The quick brown fox jumps over the lazy dog; an unbelievable answer is a question.",
    "Question: what is the answer? Answer: the answer is Paris, London or Rome.",
]


def tiny_model(
    folder: Path, *, pad_token: str | None = None, positions: int = 128, **tokenizer: Any
) -> Path:
    """Save a random two-layer Llama and a :func:`tiny_tokenizer` into ``folder``; return it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    words = tiny_tokenizer(**tokenizer)
    if pad_token:
        words.pad_token = pad_token
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=positions,
        initializer_range=0.5,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def tiny_tokenizer(
    *,
    template: str | None = None,
    adds_bos: bool = True,
    end_tokens: tuple[str, ...] = ("<|im_end|>",),
) -> Any:
    """Return a byte-level BPE tokenizer with BOS ``<s>`` (0), EOS ``</s>`` (1), no pad token.

    ``end_tokens`` are further special tokens; ``template`` is its chat template.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<|im_start|>", *end_tokens]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(_TEXT * 4, trainer)
    if adds_bos:
        bpe.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=["<|im_start|>", *end_tokens],
    )
    tokenizer.chat_template = template
    return tokenizer
