"""The OpenAPI document, made from the table of routes and the message types.

Rules
  1. Nothing is told here that the table does not say: a route's body, its answers by status, its parameters.
  2. Every refusal has one form, with one of the codes of wire/faults.py.
  3. What a handler reads of the query and the path is text; numbers and flags are said in their schema, so that whoever
     makes requests from this document also makes those that are refused.

Not here: which routes there are (daemon/routes/table.py), what they need of their caller (permissions.py).
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from headcount import __version__
from headcount.daemon.api.route import Route
from headcount.wire.faults import REFUSALS, Fault, FaultBody

COMPONENTS = "#/components/schemas/{name}"
JSON = "application/json"
TEXT = {"type": "string"}
FLAG = {"type": "string", "enum": ["1", "true", "yes", "0", "false", "no"]}
NUMBER = {"type": "string", "pattern": "^[0-9]{1,15}$"}
Json = dict[str, Any]  # a part of the document
PARAMETERS: dict[str, Json] = {
    **dict.fromkeys(("all", "explain", "force", "newest", "pane", "settled"), FLAG),
    **dict.fromkeys(("after", "every", "fence", "limit", "lines", "since", "until"), NUMBER),
}
"""Query parameters that are not any text."""

REFUSED = (
    ("4XX", "Refused, with the reason and the next step"),
    ("503", "It could not be stored, or what is needed for it cannot be reached"),
)

Schemas = dict[object, Json]


def document(routes: Sequence[Route]) -> Json:
    types = _types(routes)
    schemas, components = msgspec.json.schema_components(types, ref_template=COMPONENTS)
    by_type = dict(zip(types, schemas, strict=True))
    components[Fault.__name__]["properties"]["code"]["enum"] = sorted(REFUSALS)
    paths: dict[str, Json] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Headcount", "version": __version__, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "http://localhost", "description": "the unix socket"}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _types(routes: Sequence[Route]) -> list[object]:
    named = [
        kind for route in routes for kind in (route.answers, route.body, *(also for _, also in route.also))
    ]
    return list(dict.fromkeys(kind for kind in (*named, FaultBody) if kind is not None))


def _operation(route: Route, by_type: Schemas) -> Json:
    operation: Json = {
        "operationId": f"{route.method.lower()}{route.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "summary": route.summary,
        "responses": _responses(route, by_type),
        "parameters": _parameters(route),
    }
    if route.is_given_something:
        operation["requestBody"] = {
            "description": route.takes or route.body.__name__,
            "required": True,
            "content": {JSON: {"schema": by_type.get(route.body, {"type": "object"})}},
        }
    return operation


def _responses(route: Route, by_type: Schemas) -> Json:
    told = {
        str(route.status): _answer("Done", route.media, [route.answers], by_type),
        **{status: _answer(words, JSON, [FaultBody], by_type) for status, words in REFUSED},
    }
    for status, kind in route.also:
        if kind is None:
            told[str(status)] = {"description": "There is nothing to say"}
        elif status == route.status:
            told[str(status)] = _answer("Done", JSON, [route.answers, kind], by_type)
        else:
            told[str(status)] = _answer("Not done, with the reason", JSON, [kind, FaultBody], by_type)
    return told


def _answer(words: str, media: str, kinds: list[object], by_type: Schemas) -> Json:
    schemas = [by_type.get(kind, {}) for kind in kinds]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"description": words, "content": {media: {"schema": schema}}}


def _parameters(route: Route) -> list[Json]:
    in_path = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [
        *({"name": name, "in": "path", "required": True, "schema": TEXT} for name in in_path),
        *(
            {"name": name, "in": "query", "required": False, "schema": PARAMETERS.get(name, TEXT)}
            for name in route.query
        ),
    ]
