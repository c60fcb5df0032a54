"""What an answer says about a job: one table a kind (spec, States and transitions; pitfalls 5 to
12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxyapi.models import JobKind, JobState
from proxyapi.operations import status_read_of


@dataclass(frozen=True, slots=True)
class KindSpec:
    """Where a kind keeps its status, and which words end it. Every other word is "in progress"."""

    operation: str
    status_key: str  # the object in `data` that carries the status, or "" for `data` itself
    completed_statuses: frozenset[str]
    failed_statuses: frozenset[str]
    media_url_key: str = "url"


KINDS: Mapping[str, KindSpec] = {
    JobKind.FACELESS: KindSpec(
        status_read_of(JobKind.FACELESS), "video", frozenset({"completed"}), frozenset({"failed"})
    ),
    JobKind.CLIP: KindSpec(
        status_read_of(JobKind.CLIP), "asset", frozenset({"success"}), frozenset({"failed"})
    ),
    # The spec shows no failing word for these three: they stay in progress until they are done.
    JobKind.STORYBOARD: KindSpec(
        status_read_of(JobKind.STORYBOARD), "video", frozenset({"completed"}), frozenset()
    ),
    JobKind.CLONE: KindSpec(
        status_read_of(JobKind.CLONE), "", frozenset({"completed"}), frozenset(), "preview_url"
    ),
    JobKind.CHARACTER: KindSpec(
        status_read_of(JobKind.CHARACTER), "", frozenset({"ready"}), frozenset()
    ),
}


@dataclass(frozen=True, slots=True)
class StatusReading:
    """What one look saw. `state` is None when the answer says nothing that we can read."""

    state: JobState | None
    raw_status: str = ""
    media_url: str = ""
    failure_code: str = ""
    failure_message: str = ""


def parse_status_reading(kind: str, data: Any) -> StatusReading:
    """Read a resource's answer. Never raises: what is not understood is not known (rule 6)."""
    way = KINDS[kind]
    status_holder = find_status_object(data, way.status_key)
    raw = status_holder.get("status")
    if not isinstance(raw, str) or not raw:
        return StatusReading(None)
    raw = raw[:60]
    url = status_holder.get(way.media_url_key)
    media_url = url if isinstance(url, str) else ""
    if raw in way.completed_statuses:
        is_whole = bool(media_url) or is_complete_without_media(kind, status_holder)
        return StatusReading(JobState.COMPLETED if is_whole else JobState.RUNNING, raw, media_url)
    if raw in way.failed_statuses:
        return StatusReading(JobState.FAILED, raw, "", *parse_failure(status_holder.get("failure")))
    return StatusReading(JobState.RUNNING, raw)


def is_complete_without_media(kind: str, holder: Mapping[str, Any]) -> bool:
    """Done without its file is not done yet (pitfall 10). But a character has none, and of a
    storyboard's video the spec names no address: one that is shown, and empty, is still to come."""
    if kind == JobKind.STORYBOARD:
        return KINDS[kind].media_url_key not in holder
    return kind == JobKind.CHARACTER


def find_status_object(data: Any, name: str) -> dict[str, Any]:
    """The object that carries the status, whether the record stands in `data` or one level down."""
    if not isinstance(data, dict):
        return {}
    if not name:
        return data if "status" in data else unwrap_single_object(data)
    found = data.get(name)
    if isinstance(found, dict):
        return found
    nested = [value[name] for value in data.values() if isinstance(value, dict) and name in value]
    return nested[0] if nested and isinstance(nested[0], dict) else {}


def unwrap_single_object(data: dict[str, Any]) -> dict[str, Any]:
    """The one object in `data`, under whatever name, where `data` is no record itself."""
    nested = [value for value in data.values() if isinstance(value, dict)]
    is_record = "id" in data or "status" in data
    return nested[0] if len(nested) == 1 and not is_record else data


def parse_failure(value: Any) -> tuple[str, str]:
    """Code and message: an object for faceless videos, a bare reason for clips (pitfall 11)."""
    if isinstance(value, dict):
        return str(value.get("code") or "")[:100], str(value.get("message") or "")[:2000]
    return "", str(value or "")[:2000]
