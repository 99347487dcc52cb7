from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.report.viewer import bundle


def test_a_module_stands_behind_what_it_imports() -> None:
    text = bundle.script()
    assert text.index("// dom.js") < text.index("// visible.js") < text.index("// reply.js")
    assert text.index("// page_runs.js") < text.index("// main.js")


def test_nothing_of_the_modules_is_left() -> None:
    lines = bundle.script().splitlines()
    assert not [line for line in lines if line.startswith(("import ", "export "))]


def test_every_module_and_style_is_in_the_page() -> None:
    page = "".join(bundle.page())
    for path in (bundle.STATIC / "js").iterdir():
        assert f"// {path.name}\n" in page
    assert bundle.style() in page


def test_the_policy_names_exactly_what_the_page_has() -> None:
    page = "".join(bundle.page())
    assert page.count("<script") == 1
    assert page.count("</script") == 1
    policy = bundle.content_security_policy("'none'")
    assert f'content="{policy}"' in page
    assert "unsafe" not in policy


def test_data_comes_behind_the_script() -> None:
    page = "".join(bundle.page([("t0/1", "AAAA")]))
    assert '<script type="application/gzip" id="data:t0/1">AAAA</script>' in page
    assert page.index("// main.js") < page.index("data:t0/1")


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "js").mkdir()
    monkeypatch.setattr(bundle, "STATIC", tmp_path)
    return tmp_path / "js"


def test_a_name_in_two_modules_is_refused(static: Path) -> None:
    (static / "a.js").write_text('import { b } from "./b.js";\nconst twice = b;\n')
    (static / "b.js").write_text("export const b = 1;\nfunction twice() {}\n")
    with pytest.raises(ValueError, match=r"twice is defined in b\.js and in a\.js"):
        bundle.modules("a.js")


def test_a_circle_is_refused(static: Path) -> None:
    (static / "a.js").write_text('import { b } from "./b.js";\n')
    (static / "b.js").write_text('import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match=r"a\.js -> b\.js -> a\.js"):
        bundle.modules("a.js")
