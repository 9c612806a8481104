"""Fits the documents to the static site, see mkdocs.yml: links out of `docs/` become paths."""

import re
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s:]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by MkDocs with each document."""
    folder = PurePosixPath("docs", page.file.src_uri).parent
    return _LINK.sub(lambda link: _within(link, folder), markdown)


def _within(link: re.Match[str], folder: PurePosixPath) -> str:
    """A link to a file of the site as it is; another one as its text and the path of the source."""
    text, target = link[1], normpath(f"{folder}/{link[2]}")
    if target.startswith("docs/") and PurePosixPath(target).suffix:
        return link[0]
    name = PurePosixPath(target).name
    if target in text:
        return text
    return f"`{target}`" if name in text else f"{text} (`{target}`)"
