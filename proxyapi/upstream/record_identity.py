"""Whether an answer is the record of the resource that the request named.

Contract: pure; accepts any answer. The spec names the id of each resource, but not always where its
record stands in the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proxyapi.upstream import response_parsing
from proxyapi.upstream.endpoint import Endpoint

# `video.id` is the id of another record, which no path takes (spec, Faceless video).
STATUS_OBJECTS = ("video", "asset")
MAX_RECORD_DEPTH = 3


def is_foreign_record(operation: Endpoint, path: Mapping[str, str | int], data: Any) -> bool:
    """Whether the answer has a record, and none of its ids is the one in the path.

    The answer to a path that ends with an id is that resource. Any other may be a part of it, so
    only a whole record counts, which embeds its video.
    """
    if not operation.path_parameters:
        return False
    ids = {str(id) for id in record_ids(data, is_whole=not operation.path.endswith("}"))}
    return bool(ids) and str(path.get(operation.path_parameters[0])) not in ids


def record_ids(data: Any, *, is_whole: bool, depth: int = MAX_RECORD_DEPTH) -> Iterator[object]:
    """The ids of the objects in `data` that have a status or embed the object that has it."""
    if not isinstance(data, dict) or depth == 0:
        return
    names = ("video",) if is_whole else ("status", *STATUS_OBJECTS)
    is_record = any(name in data for name in names) or (depth == MAX_RECORD_DEPTH and not is_whole)
    if is_record and response_parsing.is_resource_id(data.get("id")):
        yield data["id"]
    for name, value in data.items():
        if name != "video":
            yield from record_ids(value, is_whole=is_whole, depth=depth - 1)
