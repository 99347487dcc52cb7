"""``report/index.html`` in a real browser, opened from the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.report.viewer.report import write_report
from tests.report.viewer.conftest import Tab, Tabs
from tests.report.viewer.runs import Given, Samples, make_run, opened

WRONG = Given("wrong", reply="I think it is 5, so 5.", pred="5", correct=False)
BASE: Samples = {
    ("small", "easy"): [
        Given("one", reply="First 4, then 4 again."),
        WRONG,
        Given("none", reply="no idea", pred="", correct=False),
        Given("cut", reply="It is 4 bec", more={"finish_reason": "length"}),
    ],
    ("small", "hard"): [Given("five"), Given("down", error="the server is down", pred=None)],
    ("large", "easy"): [Given("one", pred="9", correct=False), Given("wrong", reply="Four: 4.")],
    ("large", "hard"): [Given("five", reply="4 it is")],
}


def page_of(tmp_path: Path, samples: Samples = BASE, **gates: object) -> Path:
    return write_report(opened(make_run(tmp_path, samples)), **gates)  # type: ignore[arg-type]


def test_a_file_asks_for_nothing_else(tmp_path: Path, tab: Tab) -> None:
    path = page_of(tmp_path)
    tab.open(path)
    assert tab.requests == [path.as_uri()]


def test_overview_shows_table_gates_and_notes(tmp_path: Path, tab: Tab) -> None:
    gate = {"gate": "quiz>=70", "model": "small", "outcome": "failed", "message": "62.5 < 70"}
    page = tab.open(page_of(tmp_path, gates=[gate]))
    rows = tab.texts("table.summary tbody tr")
    assert "naive_average" in rows[0]
    assert "quiz-easy" in rows[2]
    assert "50.00" in rows[2]
    tab.shows(".gates li", ["✗ failed quiz>=70 small: 62.5 < 70"])
    assert "1 error" in page.locator(".notes").inner_text()
    page.get_by_role("button", name="2 subsets").click()
    assert len(tab.texts("table.summary tbody tr")) == 2


def test_every_filter_says_how_many_it_would_show(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path))
    page.get_by_role("link", name="quiz", exact=True).click()
    page.wait_for_selector(".row")
    assert len(tab.texts(".row")) == 6
    chips = [text.replace("\n", " ") for text in tab.texts(".chip")]
    assert chips == [
        "✓ right 3",
        "✗ wrong 2",
        "! error 1",
        "no answer found 1",
        "cut at max_tokens 1",
    ]
    page.get_by_role("button", name="wrong").click()
    tab.shows(".row .id", ["wrong", "none"])
    page.get_by_role("button", name="no answer found").click()
    tab.shows(".row .id", ["none"])
    page.get_by_role("button", name="no answer found").click()
    page.get_by_role("button", name="wrong").click()
    page.get_by_label("Subset").select_option("hard")
    tab.shows(".row .id", ["five", "down"])
    tab.shows(".figures", ["2 of 6 samples"])


def test_search_reads_replies_and_counts_follow(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path), "#/run/x/quiz")
    page.keyboard.press("/")
    page.keyboard.type("THINK  it")
    page.get_by_text("1 of 6 samples").first.wait_for()
    tab.shows(".row .id", ["wrong"])
    assert page.get_by_role("button", name="right").is_disabled()
    page.keyboard.press("Control+a")
    page.keyboard.type("server is down")
    page.locator(".row .id", has_text="down").wait_for()
    tab.shows(".row .id", ["down"])
    assert "q=server+is+down" in page.url


def test_keys_go_through_what_the_filters_leave(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path), "#/run/x/quiz?show=w")
    page.wait_for_selector(".row")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="wrong").wait_for()
    tab.shows(".place", ["1 of 2"])
    page.keyboard.press("j")
    page.get_by_role("heading", name="none").wait_for()
    page.keyboard.press("j")  # there is no further one
    page.keyboard.press("Escape")
    page.wait_for_selector(".row")
    tab.shows(".row .id", ["wrong", "none"])
    assert page.locator(".row[aria-selected=true]").inner_text().startswith("✗\nnone")
    page.keyboard.press("u")
    page.wait_for_selector("table.summary")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()


def test_back_goes_back_through_filters_and_pages(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path), "#/run/x/quiz")
    page.wait_for_selector(".row")
    page.get_by_role("button", name="wrong").click()
    page.locator(".row", has_text="none").click()
    page.wait_for_selector(".sample-title")
    page.go_back()
    page.get_by_text("2 of 6 samples").first.wait_for()
    page.go_back()
    page.locator(".figures", has_text="6 samples").wait_for()
    assert len(tab.texts(".row")) == 6


def test_a_link_to_a_sample_shows_all_of_it(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path), "#/run/x/quiz/quiz-easy/one")
    assert page.locator("mark").inner_text() == "4"
    before = page.locator("mark").evaluate("e => e.previousSibling.textContent")
    assert before == "First 4, then "
    facts = page.locator(".facts").inner_text()
    assert "✓ right" in facts
    assert "marked in the reply" in facts
    shared = page.locator(".asked details")
    assert not page.get_by_text("what is 1 + 1").is_visible()
    shared.locator("summary").click()
    assert page.get_by_text("what is 1 + 1").is_visible()
    assert "Question: one?" in page.locator(".asked").inner_text()


def test_what_an_answer_was_read_from_is_said(tmp_path: Path, tab: Tab) -> None:
    given = [Given("a", reply="four"), Given("b", pred=None, correct=False), Given("c", reply="")]
    path = page_of(tmp_path, {("m", "main"): given})
    page = tab.open(path, "#/run/x/quiz/quiz/a")
    assert "not in the reply in these words" in page.locator(".facts").inner_text()
    page.keyboard.press("j")
    page.get_by_role("heading", name="b").wait_for()
    assert "nothing" in page.locator(".facts").inner_text()
    page.keyboard.press("j")
    page.get_by_text("The reply is empty.").wait_for()


def test_reasoning_judge_options_and_the_rest(tmp_path: Path, tab: Tab) -> None:
    shown = Given(
        "all",
        prompt=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "An example?"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": [{"type": "text", "text": "Which one?"}]},
        ],
        reply="(B)",
        pred="B",
        answer="B",
        metadata={"llm": {"judge_reply": "The answer is CORRECT."}, "rule_accuracy": 1.0},
        more={
            "gold": "B",
            "choices": ["red", "blue"],
            "reasoning": "Let me think.",
            "finish_reason": "length",
            "usage": {"completion_tokens": 12},
        },
    )
    page = tab.open(page_of(tmp_path, {("m", "main"): [shown]}), "#/run/x/quiz/quiz/all")
    text = page.locator("main").inner_text()
    for part in (
        "Be brief.",
        "Which one?",
        "The judge's words, llm",
        "The answer is CORRECT.",
        "cut at max_tokens",
        "12 completion tokens",
        "rule_accuracy",
    ):
        assert part in text
    assert "An example?" not in text
    page.get_by_text("2 messages before").click()
    assert page.get_by_text("An example?").is_visible()
    page.get_by_text("Reasoning, 13 characters").click()
    assert page.get_by_text("Let me think.").is_visible()
    right = page.locator(".options tr[data-right=true]")
    assert right.inner_text().split() == ["B", "blue", "✓", "reference", "chosen"]


def test_likelihoods_and_their_calibration(tmp_path: Path, tab: Tab) -> None:
    more = {"continuations": [" red", " blue"], "choices": ["red", "blue"], "gold": "B"}
    sure = Given("sure", reply="B", pred="B", more={**more, "logprobs": [-3.0, -1.0]})
    wrong = Given(
        "off", reply="A", pred="A", correct=False, more={**more, "logprobs": [-1.0, -3.0]}
    )
    page = tab.open(page_of(tmp_path, {("m", "main"): [sure, wrong]}), "#/run/x/quiz")
    assert "Expected calibration error 0.381 (n = 2)" in page.locator(".charts").inner_text()
    page.locator(".row", has_text="sure").click()
    page.get_by_text("88.1 %").wait_for()


HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "end": "</script></div><!--<svg onload=alert(1)>",
    "ansi": "\x1b[31mred\x1b[0m\x07",
    "bidi": "safe \u202egnp.exe\u202c \u2067x\u2069",
    "lines": "a\u2028b\u2029c\u0085d",
    "surrogate": "half \ud83d of a pair",
    "astral": "👩\u200d🚀 漢字 עברית ‏٣",
    "link": "javascript:alert(1) [x](javascript:alert(1)) $\\frac{1}{2}$",
}


def test_whatever_a_model_says_is_text(tmp_path: Path, tab: Tab) -> None:
    given = [
        Given(name, reply=text, prompt=text, pred=text, answer=text, more={"reasoning": text})
        for name, text in HOSTILE.items()
    ]
    path = page_of(tmp_path, {("m", "main"): given, ("<b>n</b>", "main"): given})
    page = tab.open(path, "#/run/x/quiz")
    page.wait_for_selector(".row")
    assert page.locator("main :is(script, img, svg[onload], b b)").count() == 0
    for name, text in HOSTILE.items():
        page.goto(f"{path.as_uri()}#/run/x/quiz/quiz/{name}")
        page.get_by_role("heading", name=name).wait_for()
        assert page.locator("main :is(script, img)").count() == 0
        shown = page.locator(".reply .block .text").first
        if name in ("script", "end", "link"):
            assert shown.inner_text() == text
    page.goto(f"{path.as_uri()}#/run/x/quiz/quiz/bidi")
    page.get_by_role("heading", name="bidi").wait_for()
    marks = [mark.inner_text() for mark in page.locator(".reply .block .control").all()]
    assert marks == ["RLO", "PDF", "RLI", "PDI"]


def test_copied_json_is_the_sample(tmp_path: Path, tabs: Tabs) -> None:
    tab = tabs(permissions=["clipboard-read", "clipboard-write"])
    page = tab.open(page_of(tmp_path), "#/run/x/quiz/quiz-easy/wrong")
    page.get_by_role("button", name="Copy JSON").click()
    page.get_by_text("Copied").first.wait_for()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["prediction"] == WRONG.reply
    assert copied["origin_prompt"] == WRONG.record(0, "easy")["origin_prompt"]
    assert copied["detail"]["correct"] is False


def test_a_reply_of_a_megabyte_is_shown_in_part(tmp_path: Path, tab: Tab) -> None:
    reply = "x " * 300_000 + "so the answer is 4. " + "y " * 300_000
    path = page_of(tmp_path, {("m", "main"): [Given("long", reply=reply)]})
    page = tab.open(path, "#/run/x/quiz/quiz/long")
    assert page.locator("mark").inner_text() == "4"
    buttons = page.get_by_role("button", name="characters not shown")
    assert buttons.count() == 2
    assert len(page.locator(".reply .text").inner_text()) < 60_000
    buttons.first.click()
    assert len(page.locator(".reply .text").inner_text()) == len(reply)


def test_models_side_by_side_and_what_flipped(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path), "#/run/x/quiz?m=small")
    page.get_by_label("Beside").select_option("large")
    page.get_by_role("button", name="flipped 2").click()
    tab.shows(".row .id", ["one", "wrong"])
    page.get_by_role("button", name="right in large alone").click()
    tab.shows(".row .id", ["wrong"])
    page.locator(".row").click()
    page.wait_for_selector(".replies.of-2")
    tab.shows(".column-name", ["✗ small", "✓ large"])
    tab.shows(".column mark", ["5", "4"])
    page.goto(page.url.replace("quiz-easy/wrong", "quiz-hard/down").replace("flip=gain", ""))
    page.get_by_text("has not this sample").wait_for()


def test_a_chart_bar_shows_its_subset(tmp_path: Path, tab: Tab) -> None:
    page = tab.open(page_of(tmp_path), "#/run/x/quiz?m=small")
    tab.shows(".subset .num", ["50.0", "100.0"])
    page.locator(".subset", has_text="hard").click()
    page.get_by_text("2 of 6 samples").first.wait_for()
    tab.shows(".chart h3", ["accuracy by subset", "Reply length, characters"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_until_one_is_chosen(
    tmp_path: Path, tabs: Tabs, scheme: str
) -> None:
    tab = tabs(color_scheme=scheme)
    page = tab.open(page_of(tmp_path))
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    white, dark = "rgb(255, 255, 255)", "rgb(20, 23, 27)"
    assert page.evaluate(ground) == (white if scheme == "light" else dark)
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(ground) == white
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(ground) == dark
    page.reload()
    page.wait_for_selector("h1")
    assert page.evaluate(ground) == dark


def test_a_phone_scrolls_no_page_sideways(tmp_path: Path, tabs: Tabs) -> None:
    tab = tabs(width=390)
    long = Given("w" * 80, reply="w" * 5000, pred="w" * 90, prompt="w" * 5000, correct=False)
    path = page_of(tmp_path, {**BASE, ("m" * 60, "easy"): [long], ("m" * 60, "hard"): [long]})
    for place in (
        "",
        "#/run/x/quiz",
        f"#/run/x/quiz?m={'m' * 60}&with=small",
        f"#/run/x/quiz/quiz-easy/{'w' * 80}?m={'m' * 60}",
        "#/run/x/quiz/quiz-easy/one?with=large",
    ):
        page = tab.open(path, place)
        page.wait_for_timeout(50)
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wider) <= 0, place


@pytest.mark.parametrize(
    "place",
    ["#/run/x/nothing", "#/run/x/quiz/quiz-easy/nobody", "#/run/x/quiz/x/%E0%A4%A"],
)
def test_a_place_that_is_not_there(tmp_path: Path, tab: Tab, place: str) -> None:
    page = tab.open(page_of(tmp_path), place)
    assert page.get_by_role("alert").is_visible()
    page.get_by_role("link", name="To the run").click()
    page.wait_for_selector("table.summary")


def test_controls_have_names(tmp_path: Path, tab: Tab) -> None:
    """Every control has a name, and no id is there twice."""
    page = tab.open(page_of(tmp_path), "#/run/x/quiz")
    page.wait_for_selector(".row")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [role=img], [role=grid]")]
        .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length))
        .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
