"""The `/docs` page: an OpenAPI document as one plain HTML page.

The page loads nothing from elsewhere, so it works on a closed network.
"""

from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
code, pre { font: 14px/1.4 ui-monospace, monospace }
details { border-top: 1px solid #8886; padding: .5rem 0 }
summary { cursor: pointer } summary code { font-weight: 600 }
table { border-collapse: collapse } td, th { text-align: left; padding: .15rem 1rem .15rem 0 }
"""


def docs_page(openapi: dict[str, Any]) -> str:
    """The page for one OpenAPI document."""
    title = escape(str(openapi["info"]["title"]))
    groups: dict[str, list[str]] = {}
    for path, methods in openapi.get("paths", {}).items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["interface"])[0]
            groups.setdefault(tag, []).append(_operation(method, path, operation))
    body = "".join(f"<h2>{escape(tag)}</h2>{''.join(rows)}" for tag, rows in groups.items())
    schemas = "".join(
        f"<tr><td><code id='{escape(name)}'>{escape(name)}</code></td>"
        f"<td>{_properties(schema)}</td></tr>"
        for name, schema in openapi.get("components", {}).get("schemas", {}).items()
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title} <small>{escape(str(openapi['info']['version']))}</small></h1>"
        "<p>Reads are open; every write needs <code>Authorization: Bearer &lt;token&gt;</code>. "
        "Errors are <code>application/problem+json</code>. "
        "For machines: <a href='openapi.json'>openapi.json</a>.</p>"
        f"{body}<h2>Schemas</h2><table>{schemas}</table></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{escape(p['in'])}</td>"
        f"<td>{_type(p.get('schema', {}))}</td><td>{escape(p.get('description', ''))}</td></tr>"
        for p in operation.get("parameters", [])
    )
    parameters = f"<table>{rows}</table>" if rows else ""
    request = _content(operation.get("requestBody", {}))
    sends = f"<p>Body: {request}</p>" if request else ""
    answers = "".join(
        f"<li><code>{escape(status)}</code> {escape(response.get('description', ''))} "
        f"{_content(response)}</li>"
        for status, response in operation.get("responses", {}).items()
        if status != "default"
    )
    return (
        f"<details><summary><code>{escape(method.upper())} {escape(path)}</code> "
        f"{escape(operation.get('summary', ''))}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p>{parameters}{sends}<ul>{answers}</ul>"
        "</details>"
    )


def _content(holder: dict[str, Any]) -> str:
    return ", ".join(_type(c.get("schema", {})) for c in holder.get("content", {}).values())


def _properties(schema: dict[str, Any]) -> str:
    return ", ".join(
        f"<code>{escape(name)}</code> {_type(part)}"
        for name, part in schema.get("properties", {}).items()
    )


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(str(schema["$ref"]).rsplit("/", 1)[-1])
        return f"<a href='#{name}'>{name}</a>"
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "any")))
