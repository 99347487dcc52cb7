"""The phrases by which a reply claims its answer, as regular expressions.

All of them are tried on folded text with single spaces, and all their repeats are bounded, so
that a search takes linear time.
"""

from __future__ import annotations

__all__ = ["AND", "ANSWER", "CLAIM", "DOUBT", "GAP", "HINT", "LATER", "ONE", "RULED_OUT", "SUPPORT"]

import re

_NO = r"(?!(?:not|cannot|never|whether|if|depends|because|unless)\b|\w{1,9}n't)"
_WORD = rf"[ ]{_NO}[^\W\d_][\w'\-]{{0,20}}"
_OPTION = (
    r"(?:option|choice|answer|letter|statement|opci[oó]n|opção|opzione|(?:a )?letra|lettre|lettera"
    r"|选项)"
)

GAP = re.compile(
    rf"(?i:[ \n:=>#|\-\u2013\u2014]|(?:the|be|is|most|my|likely|probably|clearly|definitely|indeed"
    rf"|simply|just|therefore|thus|still|actually|final|only|correct|right|best|l[ae]"
    rf"|{_OPTION})\b"
    rf"|选项|为|是){{0,12}}"
)
"""What may stand between a cue and the option."""

ONE = re.compile(
    r"[(\[<]{0,2} ?(?P<letter>[A-Z]{2,26}|[A-Za-z])(?![A-Za-z0-9'_^]| ?[=+*/^<])"
    r"(?: ?[)\]>]){0,2}"
)
"""One option: a letter that touches no other letter, digit, apostrophe or formula, bracketed or
not; or a run of capitals, as multiple answers are often written."""

AND = re.compile(
    r" ?(?:,|;|/|、|&|和|与|及|或)(?: ?(?:and|or)\b|和)? ?| (?:and|or) "
    r"| (?=[A-Z](?:$|\n| [A-Z]\b))|(?<=\))(?=\([A-Z]\))"
)
"""What joins several options."""

_LATIN = (
    r"antwort|lösung|respuesta|réponse|risposta|resposta|ответ|odpowiedź|cevap|antwoord|jawaban"
    r"|đáp[ ]án|svar|vastaus|válasz|răspuns|απάντηση"
)
_IS = r"(?:is|are|be|was|ist|lautet|es|est|è|é|это|jest|adalah|là|är|er)"
_OTHER = (
    r"答案|答え|正解|解答|最佳选项|정답|답|उत्तर|উত্তর|الإجابة|الجواب|תשובה|ค\u0e4d\u0e32ตอบ"
    r"|答(?=[ ]?:)"
)

ANSWER = rf"""
    (?i:
      \banswers?\b (?:{_WORD}){{0,6}}? [ ](?:is|are|be|was)\b
    | (?<![A-Za-z])(?:answers?|ans)\b [ *"'_]{{0,4}}[:=]
    | \b(?:{_LATIN})\b (?:{_WORD}){{0,3}}? (?:[ ]{_IS}\b|[ *]{{0,4}}[:=—–])
    )
    | (?:{_OTHER}) [^\nA-Za-z0-9。!?;,不非错\-]{{0,16}}
"""
"""What says that the answer follows, whatever it is (in verbose syntax)."""

CLAIM = re.compile(
    rf"""
    {ANSWER}
    | (?i:
      \b(?:answers?|ans)\b [ ]?[\-–—]?
    | \b(?:correct|right|best|chosen|selected|appropriate|suitable)[ ]
      (?:options?|choices?|letters?|statements?|one|response|selection)\b (?:{_WORD}){{0,5}}?
      (?:[ ](?:is|are|be)\b|[ ]?:)
    | \b(?:choose|chose|pick|picked|select|selected|opt[ ]for|go[ ]with|going[ ]with)\b [ ]?:?
    | \b(?:option|choice|letter|solution|selection)\b (?:[ ]is\b|[ ]?[:=])
    | \b(?:chang|switch|revis)\w{{1,3}}[ ]my[ ](?:final[ ])?(?:answer|choice)
      (?:[ ]from[ ][A-Z])?[ ]to\b
    | \b(?:but|no|wait|actually|rather),?[ ](?:it|that)(?:'s|[ ]is|[ ]must[ ]be|[ ]should[ ]be)\b
    | \bnot[ ][(]?[A-Z][)]?,?[ ]but\b
    )
    | 正确选项 [^\nA-Za-z0-9。!?;,不非错]{{0,10}}
    | (?<![不非])正确的(?:选项|答案|说法|结论)?(?:是|为|有|包括)
    | (?<![不非别能误错])[选選](?:择|擇)?[ ]?:?[ ]?
    | 选项(?:是|为|应为|应该是|应当是)
    """,
    re.VERBOSE,
)
"""What says that the next option is the answer."""

HINT = re.compile(
    rf"""
    (?i:
      \bonly(?=[ ](?:{_OPTION}[ ])?[(]?[A-Z]\b)
    | \bleav(?:ing|es?)(?:[ ]only|[ ]us[ ]with|[ ]just)?
    | \b(?:it|this|that)(?:[ ]is|'s|[ ]must[ ]be|[ ]should[ ]be|[ ]has[ ]to[ ]be)
    | \b(?:so(?![ ](?:is|are|does|do)\b)|thus|hence|therefore|which[ ]is|which[ ]means
      |corresponds?[ ]to|match(?:es)?),?
    )
    | 而是 | 只有 | 只可?能是 | 因此,? | 所以,? | 故,?
    """,
    re.VERBOSE,
)
"""What suggests that the next option is the answer, if a clause ends there."""

SUPPORT = re.compile(
    r"""
    [ ]?
    (?:
      (?i:(?:is|are|was|must[ ]be|seems|would[ ]be|looks)[ ]
        (?:(?:therefore|thus|clearly|indeed|definitely|probably|surely|both|all|the|my|only)
          [ ]){0,3}
        (?:correct|right|true|best|answer|most[ ](?:likely|appropriate|suitable|accurate))\b
      | (?:best|correctly|accurately)[ ]\w{2,12}s\b
      | (?:[.:\-–—]{1,2}|(?<=[)\]]))[ ]?correct\b)
    | [.:)]{0,2}[ ]?[✅✓✔]
    | (?:选项|選項|项|項)?[ ]?(?:才?是|为|最)?(?:正确|正確|对的|對的|符合|答案|正解|合适|恰当|成立)
    )
    """,
    re.VERBOSE,
)
"""What calls the option before it right."""

RULED_OUT = re.compile(
    r" ?(?i:(?:is|are|was|seems|can|could|does|do|would)(?: also| clearly)?"
    r"(?: not|n't|not| wrong| incorrect| false| ruled out| excluded| impossible| out)\b)"
    r"| ?(?:选项|项)?是?也?(?:不|错|排除)"
)
"""What rules out the option before it."""

LATER = re.compile(
    r"(?:(?!(?i:not|n't)\b)(?:[^\n.!?;]|\.(?=\d))){0,80}?"
    r"(?:(?=\([A-Z]\))|\b(?i:option|choice) (?=[A-Z]\b))"
)
"""The way to an option named further on in the clause: "the answer is 12 J (B)"."""

DOUBT = re.compile(
    r"(?i:(?:\bnot|n't|never) (?:\w{1,12} )?(?:that |sure |the |an? )*(?:correct |right )?"
    r"|\b(?:if|suppose|assume|assuming|whether|unless|wrong|incorrect|false|previous|nor|neither) "
    r"(?:that |the |option |you |we |one )*"
    r"|\b(?:students|people|others|many) (?:\w{1,12} ){0,3})$|(?:错误的?|假设|如果|若)$"
)
"""What takes back a claim that follows it."""
