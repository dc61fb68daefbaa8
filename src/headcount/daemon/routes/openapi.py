"""The OpenAPI document, made from the table of routes and the message types."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headcount import __version__
from headcount.daemon.routes.route import Route
from headcount.wire.messages import FaultBody

COMPONENTS = "#/components/schemas/{name}"


def document(routes: Sequence[Route]) -> dict[str, Any]:
    types = [route.answers for route in routes if route.answers is not None]
    schemas, components = msgspec.json.schema_components([*types, FaultBody], ref_template=COMPONENTS)
    by_type = dict(zip([*types, FaultBody], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Headcount", "version": __version__, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "http://localhost", "description": "the unix socket"}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, by_type: dict[Any, Any]) -> dict[str, Any]:
    schema = by_type.get(route.answers, {})
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()}{route.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "summary": route.summary,
        "responses": {
            str(route.status): {"description": "Done", "content": {route.media: {"schema": schema}}},
            "4XX": {
                "description": "Refused, with the reason",
                "content": {"application/json": {"schema": by_type[FaultBody]}},
            },
            "503": {
                "description": "It could not be stored",
                "content": {"application/json": {"schema": by_type[FaultBody]}},
            },
        },
        "parameters": _parameters(route),
    }
    if route.takes is not None:
        operation["requestBody"] = {
            "description": route.takes,
            "required": True,
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    return operation


def _parameters(route: Route) -> list[dict[str, Any]]:
    in_path = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    text = {"type": "string"}
    return [
        *({"name": name, "in": "path", "required": True, "schema": text} for name in in_path),
        *({"name": name, "in": "query", "required": False, "schema": text} for name in route.query),
    ]
