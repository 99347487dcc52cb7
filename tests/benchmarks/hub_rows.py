"""Hand-made rows in the columns of the hub: benchmark -> split -> rows, two of which are shots."""

from __future__ import annotations

__all__ = ["HUB_ROWS"]

from typing import Any


def _arc(question: str, texts: list[str], labels: str, key: str) -> dict[str, Any]:
    choices = {"text": texts, "label": [*labels]}
    return {"id": f"Own_{key}", "question": question, "choices": choices, "answerKey": key}


def _book(stem: str, texts: list[str], key: str) -> dict[str, Any]:
    choices = {"text": texts, "label": [*"ABCD"]}
    return {"id": f"7-{key}", "question_stem": stem, "choices": choices, "answerKey": key}


def _csqa(question: str, texts: list[str], key: str) -> dict[str, Any]:
    choices = {"text": texts, "label": [*"ABCDE"]}
    row = {"id": f"c{key}", "question": question, "question_concept": texts[0]}
    return {**row, "choices": choices, "answerKey": key}


def _copa(premise: str, asked: str, choices: list[str], label: int) -> dict[str, Any]:
    row = {"premise": premise, "question": asked, "idx": 0, "label": label}
    return {**row, "choice1": choices[0], "choice2": choices[1]}


def _blank(sentence: str, first: str, second: str, answer: str) -> dict[str, Any]:
    return {"sentence": sentence, "option1": first, "option2": second, "answer": answer}


def _scene(label: str, start: str, goes_on: str, endings: list[str], right: str) -> dict[str, Any]:
    row = {"ind": 4, "activity_label": label, "ctx_a": start, "ctx_b": goes_on, "label": right}
    return {**row, "ctx": f"{start} {goes_on}", "endings": endings}


def _pro(number: int, category: str, question: str, options: list[str], key: str) -> dict[str, Any]:
    return {
        "question_id": number,
        "question": question,
        "options": options,
        "answer": key,
        "answer_index": ord(key) - ord("A"),
        "cot_content": f"A: Let's think step by step. It follows. The answer is ({key}).",
        "category": category,
        "src": "own",
    }


def _ceval(question: str, choices: list[str], answer: str) -> dict[str, Any]:
    row = {"id": 0, "question": question, "answer": answer, "explanation": ""}
    return row | dict(zip("ABCD", choices, strict=True))


def _cmmlu(question: str, choices: list[str], answer: str) -> dict[str, Any]:
    return {"Question": question, "Answer": answer} | dict(zip("ABCD", choices, strict=True))


def _truth(question: str, first: list[str], true: list[str], false: list[str]) -> dict[str, Any]:
    return {
        "question": question,
        "mc1_targets": {"choices": first, "labels": [1] + [0] * (len(first) - 1)},
        "mc2_targets": {"choices": true + false, "labels": [1] * len(true) + [0] * len(false)},
    }


_TRUTHS = [
    _truth("How far is the moon?", ["Far", "Near"], ["Far", "Not near"], ["Near", "In reach"]),
    _truth("Who is it?", ["Nobody", "", "A ghost"], ["Nobody", "", "No one"], ["", "Nobody"]),
]

HUB_ROWS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "arc_easy": {
        "test": [
            _arc("What melts first?", ["iron", "ice", "rock", "glass"], "ABCD", "B"),
            _arc("Which of these flies?", ["a bat", "a mole", "a cod"], "123", "1"),
        ],
        "train": [
            _arc("What do plants take in?", ["light", "sand", "oil", "salt"], "ABCD", "A"),
            _arc("Which is a liquid?", ["oak", "air", "milk", "coal", "wool"], "ABCDE", "C"),
        ],
    },
    "openbookqa": {
        "test": [_book("A shadow is longest", ["at noon", "at dusk", "in fog", "at sea"], "B")],
        "train": [
            _book("Ice floats as it is", ["light", "cold", "old", "wet"], "A"),
            _book("What hibernates?", ["a hare", "a gull", "a bear", "a carp"], "C"),
        ],
    },
    "commonsense_qa": {
        "validation": [
            _csqa("Where is soap kept? ", ["sink", "oven", "roof", "tree", "car"], "A"),
            _csqa("What is a lid for?", ["to fly", "to run", "to close", "to sing", "to eat"], "C"),
        ],
        "train": [
            _csqa("What do you read?", ["stone", "book", "soup", "wind", "door"], "B"),
            _csqa("Who heals?", ["thief", "clown", "ghost", "king", "nurse"], "E"),
        ],
    },
    "piqa": {
        "validation": [
            {"goal": "To dry wet shoes,", "sol1": "freeze them.", "sol2": "fill them.", "label": 1},
        ],
        "train": [
            {"goal": "open a jar", "sol1": "turn the lid", "sol2": "lick the lid", "label": 0},
            {"goal": "cool tea", "sol1": "heat it", "sol2": "blow on it", "label": 1},
        ],
    },
    "boolq": {
        "validation": [
            {"question": "is salt a rock", "answer": True, "passage": "Halite -- Salt is a rock."},
            {"question": "do fish walk", "answer": False, "passage": "Fish swim.\nSome crawl."},
        ],
        "train": [
            {"question": "is ice warm", "answer": False, "passage": "Ice is frozen water."},
            {"question": "is fire hot", "answer": True, "passage": "Fire burns."},
        ],
    },
    "copa": {
        "validation": [
            _copa("The lamp went out.", "cause", ["The bulb broke.", "The sun rose."], 0),
            _copa("It rained all day. ", "effect", ["The road dried.", "The road flooded."], 1),
        ],
        "train": [
            _copa("I ate too much.", "effect", ["My stomach ached.", "I was hungry."], 0),
            _copa("The dog barked.", "cause", ["The cat slept.", "The bell rang."], 1),
        ],
    },
    "winogrande": {
        "validation": [
            _blank("The cup fell off the tray as _ was too steep.", "the cup", "the tray", "2"),
            _blank("Ann thanked Eve because  _ 's car had started.", "Ann", "Eve", "1"),
            _blank("He put the coin in the box, not the coat, to hide the _.", "coin", "box", "1"),
        ],
        "train": [
            _blank("Bob beat Tim at chess as _ had trained.", "Bob", "Tim", "1"),
            _blank("The key broke the lock since _ was weak.", "the key", "the lock", "2"),
        ],
    },
    "hellaswag": {
        "validation": [
            _scene(
                "Baking bread",
                "[header] How to bake bread [title] Mix the dough.  [step] Weigh the flour.",
                "Then ADD water",
                ["and knead. [substeps] Wait.", "and fly away.", "or  sing.", "[title] Sell it."],
                "0",
            ),
            _scene(
                "Rowing",
                "A man sits in a boat.",
                "he",
                ["reads it a song.", "bakes the water.", "is an oar.", "pulls the oars."],
                "3",
            ),
        ],
        "train": [
            _scene("Diving", "A girl climbs up.", "she", ["dives.", "is a pool.", "x", "y"], "0"),
            _scene("Sewing", "A needle is seen.", "a hand", ["eats.", "sews.", "x", "y"], "1"),
        ],
    },
    "truthfulqa_mc1": {"validation": _TRUTHS},
    "truthfulqa_mc2": {"validation": _TRUTHS},
    "mmlu_pro": {
        "test": [
            _pro(70, "math", "What is 6 times 7?", ["40", "41", "42", "43", " 44 "], "C"),
            _pro(71, "law", "Who judges?", [*"abcdefghij"], "J"),
        ],
        "validation": [
            *(_pro(n, "math", f"What is {n}?", [str(n), "none"], "A") for n in range(5)),
            *(_pro(n, "law", f"What is law {n}?", ["no", str(n)], "B") for n in range(5, 10)),
        ],
    },
    "ceval": {
        "val": [
            _ceval(" 光在真空中的速度约为____千米每秒。", ["30", "300", "3000", "300000"], "D"),
        ],
        "dev": [
            _ceval(f"{n}加{n}等于多少?", [str(n), str(2 * n), str(3 * n), "不存在"], "B")
            for n in range(4, 9)
        ],
    },
    "cmmlu": {
        "test": [_cmmlu("下列动物中会飞的是:", ["蝙蝠", "鲸", "马", "蛇"], "A")],
        "dev": [
            _cmmlu(f"{n}的平方是:", [str(n), str(n * n), str(n + 2), "以上都不对"], "B")
            for n in range(4, 9)
        ],
    },
}
