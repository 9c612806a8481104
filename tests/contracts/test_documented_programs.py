"""The commands of the pages need no program that README or the page itself does not name."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [
    path
    for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md", "libs/**/*.md", "services/**/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CHANGELOG.md" and "node_modules" not in path.parts
]
ALWAYS_THERE = {
    "base64", "cat", "cd", "cp", "echo", "export", "grep", "head", "ls", "mkdir", "printf",
    "apt-get", "python3", "rm", "sed", "sha256sum", "sleep", "sort", "tail", "test", "true",
    "unset",
}  # fmt: skip
"""What bash and Debian's essential packages have, and Python, which the README asks for."""

SHELL_WORDS = {
    "case",
    "esac",
    "do",
    "done",
    "else",
    "fi",
    "for",
    "if",
    "in",
    "then",
    "while",
    "wait",
    "kill",
}
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
HEREDOC = re.compile(r"<<-?\s*'?(\w+)'?([^\n]*)\n.*?^\s*\1\s*$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
SUBSTITUTED = re.compile(r"\$\((?!\()\s*((?:[A-Z_]+=\S+ )*)([a-z][\w-]*)(?= )")
FIRST_WORD = re.compile(r"^\s*(?:[A-Z_]\w*=\S*\s+)*([a-z][\w-]*)(?=\s|$)")


def programs(page: str) -> set[str]:
    """The first word of every command in the page's shell blocks."""
    found = set()
    for language, block in FENCE.findall(page):
        if language not in ("bash", "sh"):
            continue
        script = HEREDOC.sub(r"\2\n", block).replace("\\\n", " ")
        found |= {name for _, name in SUBSTITUTED.findall(script)}
        plain = re.sub(r"(^|\s)#.*", "", QUOTED.sub("Q", script))
        for command in re.split(r"\n|\|\|?|&&?|;|\$\(|\bdo\b|\bthen\b", plain):
            found |= set(FIRST_WORD.findall(command))
    functions = set(re.findall(r"^ *(\w+)\(\)", page, re.MULTILINE))
    return found - ALWAYS_THERE - SHELL_WORDS - functions


def prose(page: str) -> str:
    return FENCE.sub("", page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_program_that_a_page_uses_is_named_there_or_in_the_readme(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = prose(text) + prose(README.read_text(encoding="utf-8"))
    unnamed = {
        each for each in programs(text) if not re.search(rf"(?<![\w-]){each}(?![\w-])", named)
    }
    assert unnamed == set()


def test_programs_are_found_behind_pipes_in_substitutions_and_after_settings() -> None:
    page = (
        "```bash\nA=1 first --x | second 'third; x' && fourth \\\n  more # fifth\n"
        "B=\"$(sixth y)\"\ncat <<'END' | seventh\neighth\nEND\n```\n"
    )
    assert programs(page) == {"first", "second", "fourth", "sixth", "seventh"}
