"""What the pages name exists: links, files, modules, classes with their members, settings, targets.

Read from the sources with `ast`, so that nothing is imported and a page is checked in milliseconds.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
TOPS = ("libs", "services", "deploy", "docs", "benchmarks", "tests")
GENERATED = [
    ROOT / "docs" / f"{name}.md" for name in ("configuration", "events", "metrics", "observation")
]
"""Written from the code by docs/generate.py: what they name is there."""

PAGES = sorted(
    {*ROOT.glob("*.md")}
    | {page for top in TOPS for page in (ROOT / top).rglob("*.md")} - set(GENERATED)
)
FOREIGN = {
    "EnvRunner", "Learner", "SampleBatch", "make_vec",  # RLlib, gymnasium
    "StartAfter",  # S3
    "PIP_EXTRA_INDEX_URL", "RAY_JOB_STOP_WAIT_TIME_S", "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OLLAMA_CONTEXT_LENGTH",
    "ApiProblem",  # JavaScript of the page
    "Containerfile",  # a file, in front of the ending of another one
    "ArgoCD", "AuthConfig", "TokenAuthentication",  # kinds and classes of Argo CD and CodeFlare
    "run_pipeline.py", "run_rollouts.py", "run_evaluator.py", "train_reward_model.py",  # before us
    "rlaif/__init__.py", "src/rlaif/__init__.py",  # must not exist
}  # fmt: skip
"""Names that are not looked up."""

LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
NAMED_BEFORE_LINK = re.compile(
    r"`(?P<name>(?:[A-Z]\w*\.)?\w+)`\s*\(\[[^\]]*\]\((?P<target>[^)\s]+\.py)\)"
)
NAMED_AFTER_LINK = re.compile(
    r"\[[^\]]*\]\((?P<target>[^)\s]+\.py)\)\s+`(?P<name>(?:[A-Z]\w*\.)?\w+)`"
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@dataclass
class Names:
    """What some sources define, functions, classes and their members, and what they spell."""

    defined: set[str] = field(default_factory=set)
    members: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    words: set[str] = field(default_factory=set)
    literals: set[object] = field(default_factory=set)

    def read(self, source: str) -> "Names":
        """Add what a source defines."""
        tree = ast.parse(source)
        self.words |= set(re.findall(r"\w+", source))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self.defined.add(node.name)
                self.bases[node.name] |= {
                    ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases
                }
                self.members[node.name] |= set(_members(node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.defined.add(node.name)
            elif isinstance(node, ast.Constant):
                self.literals.add(node.value)
        self.defined |= {name for node in tree.body for name in _assigned(node)}
        return self

    def has_member(self, owner: str, member: str) -> bool:
        """Whether a class, or one that it comes from, has a member."""
        inherited = (
            self.has_member(base, member) for base in self.bases[owner] if base in self.members
        )
        return member in self.members[owner] or any(inherited)

    def knows(self, dotted: str) -> bool:
        """Whether `name` or `Class.member` is defined, or a value such as `failed` is spelt."""
        owner, _, member = dotted.rpartition(".")
        if owner:
            return self.has_member(owner, member)
        return member in self.defined or member in self.literals


def _members(owner: ast.ClassDef) -> Iterator[str]:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        yield from _assigned(node)
    for part in ast.walk(owner):  # self.name = …
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.attr


def _assigned(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@cache
def sources() -> dict[Path, Names]:
    return {
        path: Names().read(path.read_text()) for top in TOPS for path in (ROOT / top).rglob("*.py")
    }


@cache
def code() -> Names:
    """Everything that the sources define, together."""
    everything = Names()
    for path in sources():
        everything.read(path.read_text())
    return everything


@cache
def files() -> tuple[str, ...]:
    tops = [*TOPS, ".ci"]
    inside = [path for top in tops for path in (ROOT / top).rglob("*")]
    return tuple("/" + str(path.relative_to(ROOT)) for path in [*inside, *ROOT.iterdir()])


@cache
def setting_words() -> frozenset[str]:
    of_deploy = [
        each for end in ("*.ipynb", "Containerfile*", "users.conf") for each in DEPLOY.rglob(end)
    ]
    texts = [*GENERATED, ROOT / "Makefile", ROOT / "docker-compose.yml", *of_deploy]
    return frozenset(word for text in texts for word in re.findall(r"\w+", text.read_text()))


@cache
def targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def broken(page: str, folder: Path) -> Iterator[str]:
    """What a page that lies in `folder` names and what is not there."""
    for link in LINK.finditer(FENCE.sub("", page)):
        target = link["target"].partition("#")[0]
        if target and "://" not in target and not (folder / target).exists():
            yield f"link to {target}"
    for pattern in (NAMED_BEFORE_LINK, NAMED_AFTER_LINK):
        for named in pattern.finditer(page):
            names = sources().get((folder / named["target"]).resolve())
            if names is not None and not names.knows(named["name"]):
                yield f"{named['name']} in {named['target']}"
    for text in CODE.findall(FENCE.sub("", page)):
        yield from (f"`{text}`" for _ in range(not _is_there(text)))
    commands = "\n".join([*FENCE.findall(page), *CODE.findall(FENCE.sub("", page))])
    for target in re.findall(r"^make ([a-z][\w-]*)", commands, re.MULTILINE):
        if target not in targets():
            yield f"make {target}"


def _is_there(text: str) -> bool:
    """Whether what stands between back-ticks exists; True for what is no name of the code."""
    bare = text.removesuffix("()")
    if re.split(r"[.=](?!py$)", bare)[0] in FOREIGN:
        return True
    if re.fullmatch(r"[\w/.-]*\w\.py", text):
        return any(path.endswith("/" + text) for path in files())
    if re.match(rf"({'|'.join(TOPS)})/", text) and " " not in text:
        pattern = re.sub(r"<[^>]+>", "*", text.rstrip("/"))
        return any(ROOT.glob(pattern))
    if re.fullmatch(r"rlaif(\.[a-z_]+)+", text):
        return any(
            path.endswith("/" + text.replace(".", "/") + end)
            for path in files()
            for end in ("", ".py")
        )
    if re.fullmatch(r"[A-Z]\w*[a-z]\w*\.\w+", bare):
        return code().knows(bare)
    if re.fullmatch(r"([A-Z][a-z0-9]*){2,}", bare) and re.search("[a-z]", bare):
        return bare in code().defined
    if re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+(=.*)?", text):
        name = text.partition("=")[0]
        return name in setting_words() or name in code().words
    if re.fullmatch(r"[a-z_]*_[a-z0-9_]*", bare):
        return bare in code().words or bare in setting_words()
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page: Path):
    found = list(broken(page.read_text(), page.parent))
    if page.name == "CHANGELOG.md":  # names settings of earlier releases
        found = [each for each in found if not re.fullmatch(r"`[A-Z0-9_]+`", each)]
    assert found == []


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("[the tour](tuor.md)", "link to tuor.md"),
        ("`Gone.method`", "`Gone.method`"),
        ("`Names.gone`", "`Names.gone`"),
        ("`GoneClass`", "`GoneClass`"),
        ("`nowhere_to_be_seen_" + "at_all()`", "`nowhere_to_be_seen_" + "at_all()`"),
        ("`nowhere.py`", "`nowhere.py`"),
        ("`docs/nowhere.txt`", "`docs/nowhere.txt`"),
        ("`tests/nowhere/<part>`", "`tests/nowhere/<part>`"),
        ("`rlaif.nowhere`", "`rlaif.nowhere`"),
        ("`TRAINER_" + "NOWHERE=1`", "`TRAINER_" + "NOWHERE=1`"),
        ("`make nothing`", "make nothing"),
        ("`gone` ([this](test_docs_names.py))", "gone in test_docs_names.py"),
        ("[this](test_docs_names.py) `Names.gone_too`", "Names.gone_too in test_docs_names.py"),
    ],
)  # fmt: skip
def test_what_is_gone_is_named(page, found):
    assert found in list(broken(page, Path(__file__).parent))


def test_what_is_there_is_not_complained_of():
    page = "`Names.knows`, `Names.words`, `broken` ([this](test_docs_names.py)), `make test`, `a/b`"
    page += ", `tests/unit/<part>`, `docs/adr/`"
    assert list(broken(page, Path(__file__).parent)) == []
