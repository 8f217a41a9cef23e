"""Fills in a form: what the script wants to say where the form asks for it, else the first answer allowed."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from check import check


def fill(schema: dict[str, Any], wanted: dict[str, Any]) -> types.ElicitResult:
    """An acceptance with content for every wanted or required field of the form."""
    content: dict[str, Any] = {}
    for name, prop in schema.get("properties", {}).items():
        if name in wanted:
            content[name] = wanted[name]
        elif name in schema.get("required", []):
            content[name] = _answer(name, prop)
    return types.ElicitResult(action="accept", content=content)


def _answer(name: str, prop: dict[str, Any]) -> Any:
    if "default" in prop:
        return prop["default"]
    choices = prop.get("enum") or [choice["const"] for choice in prop.get("oneOf", [])]
    if choices:
        return choices[0]
    kind = prop.get("type")
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return prop.get("minimum", 0)
    check(kind == "string", f"a form of plain fields, `{name}` included", prop)
    return "noted"
