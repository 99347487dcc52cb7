"""Nothing in a dataset, a model's files or a saved run is ever run."""

from __future__ import annotations

import ast
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

import pytest_evalplug
from pytest_evalplug.dataset.loading import DataSource
from pytest_evalplug.errors import ConfigError, DataError, EvalplugError
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.options import RunConfig
from pytest_evalplug.run.merged import MergedFile
from pytest_evalplug.run.trust import refuse_reach
from pytest_evalplug.summary.source import make_summarizer

PACKAGE = Path(pytest_evalplug.__file__).parent
LOADERS = {"pickle", "marshal", "shelve", "yaml", "dill", "cloudpickle", "joblib", "runpy", "code"}
RUNNERS = {"eval", "exec", "compile", "__import__"}
SHELLS = {"os.system", "os.popen", "torch.load", "numpy.load", "pandas.read_pickle"}
ALLOWED = {
    # The sandbox compiles a dataset's tests, and runs them and the replies, inside only; what
    # comes out is a verdict, in a format of its own.
    "evaluation/sandbox/preparing.py": {"compile"},
    "evaluation/sandbox/runner.py": {"marshal"},  # code objects on their way in
    "evaluation/sandbox/inside/main.py": {"marshal"},
    "evaluation/sandbox/inside/checker.py": {"exec", "__import__"},
    "evaluation/sandbox/inside/program.py": {"compile", "exec"},
    "evaluation/sandbox/inside/codec.py": {"__import__"},
}


def risky(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names} & LOADERS
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {str(node.module).partition(".")[0]} & LOADERS
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            found |= {name.removeprefix("builtins.")} & RUNNERS | {name} & SHELLS
            for word in node.keywords:
                if word.arg in ("shell", "allow_pickle", "trust_remote_code"):
                    found |= set() if ast.unparse(word.value) == "False" else {str(word.arg)}
    return found


def test_the_package_runs_and_unpickles_nothing_but_in_the_sandbox() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in PACKAGE.rglob("*.py")
        if (names := risky(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == ALLOWED


def test_the_search_finds_what_it_is_for() -> None:
    code = "import pickle\nfrom yaml import load\nos.system(x)\nf(shell=True)\nbuiltins.eval('1')"
    assert risky(ast.parse(code)) == {"pickle", "yaml", "os.system", "shell", "eval"}


class Bomb:
    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> Any:
        return Path.touch, (self.witness,)


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    return tmp_path / "exploded"


def test_the_bomb_is_one(witness: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(witness)))
    assert witness.exists()


@pytest.mark.parametrize("ending", ["pkl", "pt", "arrow", "parquet", "npy", "jsonl", "json", "csv"])
def test_a_pickle_is_no_dataset(tmp_path: Path, witness: Path, ending: str) -> None:
    folder = tmp_path / "data" / "quiz"
    folder.mkdir(parents=True)
    (folder / f"test.{ending}").write_bytes(pickle.dumps(Bomb(witness)))
    source = DataSource(benchmark="quiz", data_dirs=[tmp_path / "data"])
    if ending in ("pkl", "pt", "npy"):
        assert source.local(None, "test", shared=True) is None
    else:
        with pytest.raises(DataError):
            source.local(None, "test", shared=True)
    assert not witness.exists()


def test_a_folder_with_a_loading_script_runs_none(tmp_path: Path, witness: Path) -> None:
    folder = tmp_path / "quiz"
    folder.mkdir()
    (folder / "quiz.py").write_text(f"open({str(witness)!r}, 'w')")
    (folder / "README.md").write_text("---\nconfigs: !!python/object/apply:os.getpid []\n---\n")
    source = DataSource(benchmark="quiz", dataset_id=str(folder))
    assert source.local(None, "test", shared=True) is None
    with pytest.raises(DataError):
        source.remote(None, "test", shared=True)
    assert not witness.exists()


def test_weights_that_are_a_pickle_are_refused(tmp_path: Path, witness: Path) -> None:
    pytest.importorskip("torch")
    settings = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        **{"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1},
        **{"num_attention_heads": 1, "vocab_size": 8, "auto_map": {"AutoConfig": "evil.Config"}},
    }
    (tmp_path / "config.json").write_text(json.dumps(settings))
    (tmp_path / "evil.py").write_text(f"open({str(witness)!r}, 'w')")
    with zipfile.ZipFile(tmp_path / "pytorch_model.bin", "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(Bomb(witness)))
        file.writestr("archive/version", "3\n")
    with pytest.raises(ConfigError):
        resolve_model(f"hf:{tmp_path}", {}).create()
    assert not witness.exists()


HOSTILE = (
    *('{"__reduce__": ["os.system", "id"]}', '[["0", {}]]', '"x"', "NaN", "[" * 100_000),
    *('{"0": {"py/object": "os.system"}}', '{"0": [1]}', '{"0": null}', '{"0": {"key": []}}', "\0"),
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_prediction_file_of_odd_types_is_an_error_or_data(tmp_path: Path, text: str) -> None:
    path = tmp_path / "quiz.json"
    path.write_text(text, encoding="utf-8")
    try:
        merged = MergedFile(path)
    except DataError:
        return
    assert all(isinstance(merged[index], dict) for index in merged)


@pytest.mark.parametrize(
    "transform",
    [
        *("__import__('os').system('id')", "x.__class__", "(lambda: x)()", "[x for x in (1,)]"),
        *("x if x else 1", "open('/etc/passwd')", "9 ** 9 ** 9 ** 9", "'a' * 10 ** 9", "x" * 600),
        *(
            "exec('1')",
            "x\0",
            "x; x",
            "(x := 1)",
            "f'{x}'",
            "max",
            "abs(x, key=1)",
            "-" * 400 + "x",
        ),
    ],
)
def test_a_hostile_transform_is_refused_or_has_no_value(transform: str) -> None:
    from pytest_evalplug.summary.arithmetic import Expression

    try:
        formula = Expression.parse(transform)
    except ConfigError:
        return
    with pytest.raises(EvalplugError):
        formula(2.0)


@pytest.mark.parametrize(
    "table",
    [
        {"type": "os.system"},
        {"type": "pytest_evalplug.commands.view"},
        {"type": "../evil.py"},
        {"summary_groups": [{"name": "a", "subsets": ["x"], "transform": "exec('1')"}]},
        {"summary_groups": "__import__('os')"},
    ],
)
def test_a_hostile_summarizer_table_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        make_summarizer(table, where="[tool.evalplug.summarizer]")


@pytest.mark.parametrize(
    "saved",
    [
        {"backend": "openai", "base_url": "https://evil.example/v1"},
        {"backend": "hf", "model": "x", "trust_remote_code": True},
        {"evaluator": {"judge": [{"model_kwargs": {"attn_implementation": "evil/kernel"}}]}},
        {"evaluator": {"judge_model": "openai:m@https://evil.example/v1"}},
        {"evaluator": {"judge_model": "openai:m@8b@http://127.0.0.1@evil.example/v1"}},
        {"judge_model": {"base_url": "http://[evil/v1"}},
        {"backend": "openai", "api_key_env": "AWS_SECRET_ACCESS_KEY"},
    ],
)
def test_a_saved_run_chooses_no_server_and_no_code(saved: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="Give it: --judge-model"):
        refuse_reach(saved, "the judge 'j'", "Give it: --judge-model=...")


def test_a_saved_run_may_have_its_judge_on_this_machine() -> None:
    refuse_reach({"base_url": "http://127.0.0.1:1/v1", "trust_remote_code": False}, "", "")
    refuse_reach({"base_url": None, "model_kwargs": {}}, "", "")
    refuse_reach({"judge_model": "openai:m@http://localhost:1/v1", "a": "openai:m@home"}, "", "")


def test_a_saved_judge_takes_the_keys_of_the_users_own_tables() -> None:
    for key in ("OPENAI_API_KEY", "MY_KEY", None):
        refuse_reach({"api_key_env": key}, "", "", {"MY_KEY"})


def test_a_saved_server_is_named_without_its_secrets() -> None:
    with pytest.raises(ConfigError, match=r"server of x \(https://evil\.example/v1\)"):
        refuse_reach({"base_url": "https://u:pw@evil.example/v1?k=v"}, "x", "")


def test_what_the_user_gives_too_is_the_users() -> None:
    server = {"evaluator": {"judge_model": "openai:m@https://evil.example/v1"}}
    saved: dict[str, Any] = {"eval_mode": "gen", "limit": None, "subsets": []}
    saved["settings"] = [["quiz", "eval_cfg", server]]
    with pytest.raises(ConfigError, match=r"--eval-set quiz\.eval_cfg="):
        RunConfig().following(saved, {})
    own = RunConfig(settings=(("quiz", "eval_cfg", {}),))
    assert own.following(saved, {}).overrides == {"quiz": {"eval_cfg": {}}}
