"""The server's API as a page, made from its OpenAPI description: without scripts, nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any


def api_page(schema: Mapping[str, Any]) -> str:
    """Return the page as HTML.

    Args:
        schema: The description that `FastAPI.openapi()` returns.
    """
    about = schema["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        f"<title>{escape(about['title'])}: API</title>",
        '<link rel=icon href="/static/icon.svg"><link rel=stylesheet href="/static/viewer.css">',
        '<link rel=stylesheet href="/static/app.css">',
        f"<main class=api><h1>{escape(about['title'])}: API</h1><p>{_words(about.get('description', ''))}",
        '<p><a href="/">To the games</a> · <a href="/api/openapi.json">as OpenAPI</a>. Errors are JSON,',
        "<code>{&quot;error&quot;: &quot;why&quot;}</code>, with a status from 400 on. Bodies are JSON.",
    ]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2>")
            parts.append(f"<p>{_words(operation.get('description', ''))}")
            parts += _fields(schema, operation)
    return "\n".join([*parts, "</main></html>"])


def _fields(schema: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
    """Return the table of a request's parameters and of the fields of its body."""
    lines = [
        (field["name"], field["schema"], field.get("required", False), field["in"])
        for field in operation.get("parameters", ())
    ]
    content = operation.get("requestBody", {}).get("content", {})
    for body in content.values():
        name = body["schema"].get("$ref", "").rpartition("/")[2]
        model = schema["components"]["schemas"].get(name, {})
        needed = model.get("required", ())
        lines += [(key, about, key in needed, "body") for key, about in model.get("properties", {}).items()]
    if not lines:
        return []
    rows = [
        f"<tr><td><code>{escape(name)}</code><td>{where}<td>{escape(_kind(about))}"
        f"<td>{'needed' if required else 'default ' + escape(repr(about.get('default')))}"
        f"<td>{_words(about.get('description', ''))}"
        for name, about, required, where in lines
    ]
    return ["<div class=scroll><table><tr><th>name<th>in<th>kind<th><th>", *rows, "</table></div>"]


def _words(text: str) -> str:
    """Return escaped text, with names in backquotes as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _kind(about: Mapping[str, Any]) -> str:
    if "anyOf" in about:
        return " or ".join(_kind(part) for part in about["anyOf"])
    limits = "".join(
        f" {sign} {about[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMaximum", "<"), ("maximum", "≤"), ("maxLength", "of length ≤"))
        if key in about
    )
    of = f" of {_kind(about['items'])}" if "items" in about else ""
    return f"{about.get('type', 'anything')}{of}{limits}"
