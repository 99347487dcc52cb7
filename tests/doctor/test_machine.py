from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.doctor import machine, versions


@pytest.fixture
def cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    return tmp_path


def test_processors(cgroup: Path) -> None:
    [check] = machine.cores()
    assert check.state == "ok"
    (cgroup / "cpu.max").write_text("max 100000\n")
    assert list(machine.cores()) == [check]
    (cgroup / "cpu.max").write_text("50000 100000\n")
    [less] = machine.cores()
    assert less.state == "warn"
    assert less.text == f"{check.text}, of whose time this container has 0.5"
    assert less.fix == "Use -n 1 in the place of -n auto"


def test_memory_is_what_the_container_leaves(cgroup: Path) -> None:
    (cgroup / "memory.max").write_text(str(3 * 2**20))
    (cgroup / "memory.current").write_text(str(2**20))
    assert machine.free_memory() == 2 * 2**20
    [check] = machine.memory()
    assert (check.state, check.text) == ("warn", "0.0 GiB free")
    (cgroup / "memory.max").write_text("max")
    free = machine.free_memory()
    assert free is None or free > 2 * 2**20


class TestGPUs:
    @pytest.fixture
    def driver(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setattr(versions, "_version", lambda name: "2.9.0+cpu")
        return tmp_path / "nvidia-smi"

    def test_none(self, driver: Path) -> None:
        [check] = machine.gpus()
        assert check.state == "ok"

    def test_two_that_torch_can_not_use(
        self, driver: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        driver.write_text(
            "#!/bin/sh\necho '0, NVIDIA H200, 143771, 143000'\necho '1, NVIDIA H200, [N/A], 512'\n"
        )
        driver.chmod(0o755)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
        first, second, hidden, torch = machine.gpus()
        assert (first.name, first.text) == ("gpu 0", "NVIDIA H200, 140 of 140 GiB free")
        assert second.text == "NVIDIA H200, 0 of ? GiB free"
        assert "CUDA_VISIBLE_DEVICES=1" in hidden.text
        assert (torch.state, torch.text) == ("warn", "2.9.0+cpu can't use the GPU")

    def test_a_broken_driver(self, driver: Path) -> None:
        driver.write_text("#!/bin/sh\necho 'driver/library version mismatch'\nexit 18\n")
        driver.chmod(0o755)
        [check] = machine.gpus()
        assert check.state == "problem"
        assert check.text == "nvidia-smi fails: driver/library version mismatch"


class TestWorkDir:
    def test_nothing_is_left_or_made(self, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "outputs"
        [check] = machine.work_dir(folder)
        assert check.state in ("ok", "warn")  # by the space that there is
        assert check.text.startswith(f"{folder} (will be made in {tmp_path}): writable, ")
        assert list(tmp_path.iterdir()) == []

    def test_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.touch()
        [check] = machine.work_dir(file / "outputs")
        assert (check.state, check.text) == ("problem", f"{file} is no folder")

    def test_not_writable(self) -> None:
        [check] = machine.work_dir(Path("/proc/outputs"))  # not for root either
        assert check.state == "problem"
        assert "can't be written" in check.text

    @pytest.mark.parametrize(("free", "state"), [(50, "problem"), (500, "warn"), (5000, "ok")])
    def test_space(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str
    ) -> None:
        monkeypatch.setattr(
            "shutil.disk_usage", lambda path: type("Usage", (), {"free": free * 2**20})
        )
        [check] = machine.work_dir(tmp_path)
        assert check.state == state


def test_an_extra_that_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [
        "pytest>=1",
        "nosuch-core",
        "torch>=2; extra == 'hf'",
        "nosuch-maths>=3; extra == 'math'",
        "nosuch-lint; extra == 'dev'",
    ]
    extras = type("Metadata", (), {"get_all": lambda *_: ["dev", "hf", "math"]})()
    found = {"pytest": "9.0", "torch": "2.1"}
    monkeypatch.setattr("importlib.metadata.requires", lambda name: wanted)
    monkeypatch.setattr("importlib.metadata.metadata", lambda name: extras)
    monkeypatch.setattr(versions, "_version", found.get)
    first, core, optional = versions.packages()
    assert first.text.endswith(", pytest 9.0, torch 2.1")
    assert (core.state, core.text) == ("problem", "nosuch-core is not installed")
    assert core.fix == "pip install 'nosuch-core'"
    assert (optional.state, optional.text) == (
        "ok",
        "hf installed; math not (where needed: pip install 'pytest-evalplug[math]')",
    )
