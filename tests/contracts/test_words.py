"""Texts use the standard terms of docs/glossary.md and none of the banned phrases below.

Read are Markdown, docstrings, comments, messages (string literals with a space in the sources),
the strings of the page's JavaScript, YAML comments and descriptions, and the Makefile. Text
between back-ticks is a name and is skipped; prompts of language models are, too, as their bytes are
part of stored identities.

    python tests/contracts/test_words.py              all violations
    python tests/contracts/test_words.py services/hud those below a folder
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BANNED = {
    # Words of the glossary's left column.
    r"tell(s|ing)?(?! \w*\s?apart)|told(?! apart)": "report, publish, say",
    r"nobody|somebody|whoever": "name the component or person; no one, someone",
    r"he|him|himself|she|herself": "it, the agent, the player, the process",
    r"go(es|ne|ing)? on(?! (the|to|a|an|top)\b)|went on": "continue, resume",
    r"of before": "earlier, previous",
    r"anew|begun": "again, re-initialized; started",
    r"(not )?at work(?! (with|on))": "running, ready; waiting for",
    r"starts that differ": "randomized starts",
    r"by (its|their) own word": "as reported by",
    r"at a look|a look at a time": "per poll, per training round",
    r"put together": "downsampled, assembled",
    r"in love|by lot|lot by episode": "biased judge; random; per-episode random labels",
    r"(is|are|was|were|goes|go|all) well(?!-| (known|tested|below|above|within)\b)": "healthy",
    r"mishaps?": "fault, incident",
    r"troubles?": "issue, problem",
    r"the (whole |closed )?ring(?! (buffer|of)\b)": "the pipeline",
    r"the stand-in": "the mock LLM",
    r"taken back|gone back to|went back to": "withdrawn, rolled back",
    r"(dis|not )?believed": "trusted, excluded",
    r"says? so": "report it",
    r"surely|surer": "significantly, more certain",
    r"c[ao]me?s? of (it|this|that|what|a|an|the)": "result, outcome",
    r"(do|does|did|doing) without": "non-essential; without",
    r"the middle one": "median",
    r"what (is|was|are|were) (said|taught|told|paid)": "a noun: the answer, the labels, the reward",
    r"what it (pays|paid)": "its shaping reward",
    r"(knows?|has|have|says?|had) nothing of": "is independent of, does not contain",
    r"(ring|run|training|loop|service|pipeline|trainer) stands? still": "stalled, stopped",
    r"(learns?|answers?|exists?|serves?|counts?|is|are|\w+ed|known|seen) no more(?=[.,;:)]|$)":
        "no longer",
    r"no more(?= (is|are|was|were) )": "no longer",
    r"of ours|of theirs": "our, their",
    r"the desk|a desk": "request queue, review service",
    r"keepers?": "archive server",
    r"(a|each|every|per|one|the|first|last|this|its) try(?! (to|and)\b)": "attempt, retry",
    r"mend(s|ed|ing)?": "fix, repair",
    r"hears? of|heard of|(is|are) heard": "receives",
    r"(no|with|without|has|have) eyes": "vision support",
    r"(be|is|are) rid of": "delete, no longer have",
    r"(is|are|was|were) home": "mastered",
    r"by day and by night": "in light and dark theme",
    r"no word (from|of|about|yet)": "no report from",
    r"wants? no": "does not accept, needs no",
    r"once it lives|while it lives|it still lives": "once /livez answers, while it runs",
    r"in vain": "without effect",
    r"cut by hand": "stopped manually",
    r"(have|has|had) a say in": "contribute to",
    r"reads well": "is readable",
    r"(decisions|steps|calls|frames|requests|pictures|lines|tokens|events|messages|bytes"
    r"|milestones|rooms|points|segments|episodes|labels|pairs|updates|samples|games|entries)"
    r" an? (second|minute|hour|episode|iteration|run|step|segment|judge|runner|game|decision)":
        "per second, per episode",
}  # fmt: skip
"""Regular expression, matched as whole words → what to write in its place."""

QUESTION = re.compile(r"\A\s*[A-Z][^.?!]{0,160}\?(\s|\Z)")
HEADING_QUESTION = re.compile(r"^#+ .*\?\s*$")
CONFLICT = re.compile(r"\s*(<{7}|>{7}) ")
"""A marker of an unresolved merge, which no parser finds in a docstring or a page."""
CONSTANT = re.compile(
    r"\b_?(?:[A-Z0-9]+_)*(?:MOST|LEAST)(?:_[A-Z0-9]+)+\b|\b_?[A-Z0-9_]+_(?:MOST|LEAST)\b"
)

SKIPPED = (
    "CHANGELOG.md",  # names what old versions were called
    "deploy/containers/RESULTS.md",  # recorded output
    "benchmarks/results",
    "docs/configuration.md", "docs/events.md", "docs/metrics.md",  # generated
    "docs/observation.md", "docs/policy-input.md",  # generated
    "libs/common/src/rlaif/guides",  # part of the judges' prompts, byte for byte
    "tests/contracts/golden",
    "tests/contracts/test_words.py",
)  # fmt: skip
PROMPTS = (
    "judge/panel/prompts.py", "judge/pairs/pair_judge.py", "judge/panel/schema.py",
    "judge/rubric/judges.py", "judge/evidence/summary.py",
    "trainer/planning/prompts.py",
)  # fmt: skip
"""Their string literals are prompts."""
PLAYER_IS_A_PERSON = ("docs/game", "libs/game/cartridge", "deploy/mock-llm/src")
"""Texts on the game's story, where "he" is a character."""

PATTERN = re.compile(rf"\b(?:{'|'.join(f'(?:{each})' for each in BANNED)})\b", re.IGNORECASE)
CODE = re.compile(r"`[^`]*`")
JS_TEXT = re.compile(
    r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`",
    re.DOTALL,
)
COMMENT = re.compile(r"(?:^|\s)#\s(.*)")

Text = tuple[int, str]
"""Line and text."""


def python_texts(source: str, *, messages: bool) -> Iterator[Text]:
    """Docstrings, comments and, with `messages`, every other literal that has a space."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        is_doc = id(node) in docstrings
        if is_doc or (messages and " " in node.value.strip()):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + (offset if is_doc else 0), line
    for number, line in enumerate(source.splitlines(), 1):
        comment = COMMENT.search(line)
        if comment:
            yield number, comment[1]
        yield from ((number, name) for name in CONSTANT.findall(line))


def javascript_texts(source: str) -> Iterator[Text]:
    for found in JS_TEXT.finditer(source):
        first = source.count("\n", 0, found.start()) + 1
        for offset, line in enumerate(re.sub(r"\$\{[^}]*\}", "…", found[0]).splitlines()):
            yield first + offset, line.strip("/*\"'` ")


def lines(source: str) -> Iterator[Text]:
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        fenced ^= line.startswith("```")
        yield number, line.partition("#")[2] if fenced else line


def questions(path: Path, source: str) -> Iterator[tuple[int, str, str]]:
    """Headings and first sentences of docstrings that ask instead of saying."""
    if path.suffix == ".md":
        for number, line in enumerate(source.splitlines(), 1):
            if HEADING_QUESTION.match(line):
                yield number, line, "a heading is a noun phrase"
    elif path.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                first = (ast.get_docstring(node) or "").partition("\n\n")[0]
                if QUESTION.match(first):
                    at = 1 if isinstance(node, ast.Module) else node.lineno
                    yield at, " ".join(first.split()), "a summary line states what it is"


def texts_of(path: Path) -> Iterator[Text]:
    source = path.read_text()
    if path.suffix == ".py":
        is_test = path.is_relative_to(ROOT / "tests")
        yield from python_texts(
            source, messages=not is_test and not path.as_posix().endswith(PROMPTS)
        )
    elif path.suffix == ".js":
        yield from javascript_texts(source)
    else:
        yield from lines(source)


def violations(path: Path) -> list[str]:
    """`line: phrase → remedy` for each banned phrase of a file."""
    if path.suffix not in READ and path.name != "Makefile":
        return []
    found = [(n, phrase, remedy) for n, text in texts_of(path) for phrase, remedy in banned(text)]
    found += list(questions(path, path.read_text()))
    found += [
        (number, line.strip(), "resolve the merge")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if CONFLICT.match(line)
    ]
    relative = path.relative_to(ROOT).as_posix()
    if relative.startswith(PLAYER_IS_A_PERSON):
        found = [each for each in found if each[1].lower() not in _PERSON]
    return [f"{relative}:{n}: {phrase!r} → {remedy}" for n, phrase, remedy in sorted(set(found))]


_PERSON = ("he", "him", "himself", "she", "herself")
READ = (".py", ".js", ".md", ".yaml", ".yml", ".html")


def banned(text: str) -> Iterator[tuple[str, str]]:
    """The banned phrases of a text, each with what to write in its place."""
    if CONSTANT.fullmatch(text):
        yield text, "MAX_, MIN_"
        return
    for found in PATTERN.finditer(CODE.sub("`…`", text)):
        yield found[0], next(
            remedy for each, remedy in BANNED.items() if re.fullmatch(each, found[0], re.I)
            or re.match(rf"(?:{each})\b", text[text.find(found[0]):], re.I)
        )  # fmt: skip


def area(path: Path) -> str:
    """The part of the tree that is cleaned as one: a distribution, a room or a folder."""
    parts = path.relative_to(ROOT).parts
    if "src" in parts:
        inside = parts[parts.index("src") + 3 :]  # after src/rlaif/<package>
        name = "/".join(parts[: parts.index("src")])
        rooms = {"services/trainer", "libs/common", "libs/game"}
        if name == "libs/common":
            return f"libs/common/{(*parts[parts.index('src') + 2 :], name)[0]}"
        if "static" in inside:
            return f"{name}/static"
        return f"{name}/{inside[0]}" if name in rooms and len(inside) > 1 else name
    depth = 3 if parts[:2] in (("tests", "unit"), ("tests", "integration")) else 2
    depth = depth if parts[0] in ("libs", "services", "tests", "deploy") else 1
    return "/".join(parts[: min(depth, len(parts) - 1)]) or "."


@cache
def files() -> dict[str, list[Path]]:
    """Area → its files."""
    tops = [ROOT / top for top in ("libs", "services", "deploy", "docs", "benchmarks", "tests")]
    inside = [path for top in tops for path in sorted(top.rglob("*")) if path.is_file()]
    root = [*sorted(ROOT.glob("*.md")), ROOT / "Makefile"]
    areas: defaultdict[str, list[Path]] = defaultdict(list)
    for path in [*inside, *root]:
        relative = path.relative_to(ROOT).as_posix()
        if not relative.startswith(SKIPPED) and "node_modules" not in path.parts:
            areas[area(path)].append(path)
    return areas


@pytest.mark.parametrize("name", sorted(files()))
def test_an_area_has_no_banned_phrase(name: str):
    assert [each for path in files()[name] for each in violations(path)] == []


@pytest.mark.parametrize(
    "text",
    [
        "the run goes on with it", "runs of before", "he is told", "whoever asks", "not at work: x",
        "12 frames a second", "MOST_CALLS", "PLANNER_LEAST_CALLS", "Taken back by a person.",
    ],
)  # fmt: skip
def test_a_banned_phrase_is_found(text):
    assert list(banned(text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "the telephone", "what the theory says", "tells them apart", "a well-known port",
        "takes a second", "`told` is a field", "at most 3 steps", "retry the call", "MAX_STEPS",
    ],
)  # fmt: skip
def test_plain_english_is_not_complained_of(text):
    assert list(banned(text)) == []


def test_a_marker_of_an_unresolved_merge_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.py"
    page.write_text('"""Limits.\n\n    ' + "<" * 7 + ' HEAD\n    Text.\n"""\n')
    assert violations(page) == ["page.py:3: '<<<<<<< HEAD' → resolve the merge"]


def test_texts_are_found_in_python_and_javascript():
    source = 'def f():\n    """He."""\n    log.info("is told")  # of before\n'
    assert {text for _, text in python_texts(source, messages=True)} == {
        "He.", "is told", "of before",
    }  # fmt: skip
    assert [text for _, text in javascript_texts("x('is told'); // of before")] == [
        "is told", "of before",
    ]  # fmt: skip


if __name__ == "__main__":
    below = tuple(sys.argv[1:]) or ("",)
    found_in = [each for paths in files().values() for path in paths for each in violations(path)]
    sys.stdout.writelines(f"{each}\n" for each in sorted(found_in) if each.startswith(below))
