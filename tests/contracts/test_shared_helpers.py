"""Consumers, folds and background tasks go through the helpers that isolate and supervise them.

A task that runs for ever is one of `BackgroundTasks`, or of a group that passes its failure on. An
`async for` handles each item inside a guard, so that one of them does not end the others, unless
what it iterates is listed here: names of variables do not matter.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("libs/common/src", "services")
    for path in (ROOT / folder).rglob("*.py")
    if "tests" not in path.parts
)
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in SOURCES}

SUPERVISORS = {
    "rlaif/service/background.py": "the helper itself",
    "rlaif/service/lifecycle.py": "starts the work of a service again",
    "rlaif/service/announcer.py": "ends with the lifecycle, which awaits it",
    "rlaif/trainer/service/cli.py": "prints the issues of one run of a command",
    "rlaif/reward_model/runtime.py": "awaits training and worker; the lifecycle starts both again",
}
"""Files that may start a task that runs for ever by hand, and why."""

FINITE = {
    "stored_messages": "one read of a stream, which fails or succeeds as a whole",
    "aiter_bytes": "the body of one HTTP answer",
}
"""Calls whose result ends, so that `async for` over it may end with the first error, and why."""

OWN_GUARDS = {"rlaif/trainer/learner/ray_job.py:relay": "skips a line that is not a message"}
"""Functions whose `async for` handles errors in its own way, and how."""

GUARDED = {"event", "telemetry"}
"""Methods of the page's `Broadcast`, which isolate what they are given."""

FOLDS = {
    "apply_event": {"rlaif/hud/broadcast.py"},
    "apply_reading": {"rlaif/hud/broadcast.py"},
}
"""Fold → the files that call it, inside a guard."""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def name_of(node: ast.AST) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Call(func=function):
            return name_of(function)
    return ""


def endless(tree: ast.AST) -> set[str]:
    """Functions of a module that never end, and `run`, as such methods are called."""
    return {"run"} | {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncFunctionDef)
        and any(
            isinstance(each, ast.While)
            and isinstance(each.test, ast.Constant)
            and each.test.value is True
            and not any(isinstance(inner, ast.Return) for inner in ast.walk(each))
            for each in node.body
        )
    }


def unsupervised(tree: ast.AST) -> list[str]:
    """Endless coroutines whose task nothing watches."""
    started = [
        call
        for call in calls(tree)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("create_task", "ensure_future")
        and name_of(call.func.value) == "asyncio"
    ]
    return [name_of(call.args[0]) for call in started if name_of(call.args[0]) in endless(tree)]


def catches_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Try) and any(
        name_of(handler.type) == "Exception" for handler in node.handlers if handler.type
    )


def unguarded(tree: ast.AST) -> set[str]:
    """Functions that iterate asynchronously so that one item could end the loop."""
    return {
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.AsyncFunctionDef) and not all(map(lasts, ast.walk(function)))
    }


def lasts(node: ast.AST) -> bool:
    """Whether a node is no asynchronous loop, or one that no item ends."""
    match node:
        case ast.AsyncFor():
            return finite(node.iter) or isolates(node.body)
        case ast.comprehension(is_async=1):
            return finite(node.iter)
        case ast.Call():
            return name_of(node) not in ("anext", "__anext__")
    return True


def finite(iterated: ast.expr) -> bool:
    return isinstance(iterated, ast.Call) and name_of(iterated) in FINITE


def isolates(body: list[ast.stmt]) -> bool:
    """Whether a loop's body is one statement: a guard, a guarded call, or the item yielded on."""
    (first, *more) = body
    match first:
        case ast.Expr(value=ast.Call() as call):
            alone = name_of(call) in GUARDED
        case ast.Expr(value=ast.Yield(value=ast.Name())):
            alone = True
        case _:
            alone = catches_all(first)
    return alone and not more


def belongs(path: str, files: set[str] | dict[str, str]) -> bool:
    return any(path.endswith(f"/{each}") for each in files)


def test_what_runs_for_ever_is_supervised() -> None:
    """Otherwise: run it by `rlaif.service.background.BackgroundTasks`."""
    found = {path: unsupervised(tree) for path, tree in TREES.items()}
    wrong = {path for path, names in found.items() if names and "/rlaif/bus/" not in path}
    assert [path for path in wrong if not belongs(path, SUPERVISORS)] == []


def test_who_follows_events_or_readings_isolates_each() -> None:
    """Otherwise: handle each inside `try: ... except Exception:`."""
    found = {f"{path}:{name}" for path, tree in TREES.items() for name in unguarded(tree)}
    assert {each for each in found if not belongs(each, OWN_GUARDS)} == set()
    assert all(any(belongs(each, {own}) for each in found) for own in OWN_GUARDS), "none left"


@pytest.mark.parametrize("fold", FOLDS)
def test_folds_are_called_inside_their_guard_only(fold: str) -> None:
    found = {path for path, tree in TREES.items() for call in calls(tree) if name_of(call) == fold}
    assert [path for path in found if not belongs(path, FOLDS[fold])] == []
    assert found, "the fold has another name now"


def test_the_guards_of_the_page_catch_everything() -> None:
    (tree,) = (tree for path, tree in TREES.items() if path.endswith("rlaif/hud/broadcast.py"))
    guards = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in GUARDED
    ]
    broadcast = [node for node in guards if any(catches_all(each) for each in node.body)]
    assert {node.name for node in broadcast} == GUARDED


def test_only_workers_feeds_and_the_reader_of_history_pull_messages() -> None:
    pulls = {
        path
        for path, tree in TREES.items()
        for call in calls(tree)
        if name_of(call).startswith("pull_subscribe")
    }
    assert {Path(path).name for path in pulls} == {"worker.py", "feed.py", "history.py"}


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("async def run():\n  asyncio.create_task(self.part.run())", True),
        ("async def f():\n  while True:\n    pass\nx = asyncio.create_task(f())", True),
        ("async def f():\n  return 1\nx = asyncio.create_task(f())", False),
        ("async def g():\n  async for e in bus.subscribe(s):\n    fold(e)", True),
        ("async def g(any_name):\n  async for e in any_name:\n    fold(e)", True),
        ("async def g(any_name):\n  return [fold(e) async for e in any_name]", True),
        ("async def g(any_name):\n  while True:\n    fold(await anext(any_name))", True),
        ("async def g():\n  async for e in stored_messages(js):\n    found.append(e)", False),
        ("async def g():\n  async for e in mailbox:\n    yield e", False),
        ("async def g():\n  async for e in feed.follow(s):\n    page.event(e)", False),
        (
            "async def g():\n  async for e in feed.follow(s):\n    try:\n      fold(e)\n"
            "    except ValueError:\n      pass",
            True,
        ),
        (
            "async def g():\n  async for e in feed.follow(s):\n    try:\n      fold(e)\n"
            "    except Exception:\n      pass",
            False,
        ),
    ],
)
def test_the_rules_see_what_they_are_for(source: str, wrong: bool) -> None:
    tree = ast.parse(source)
    assert bool(unsupervised(tree) or unguarded(tree)) == wrong
