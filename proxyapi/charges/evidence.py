"""Evidence: what a resource looked like before a charge, and whether it shows that it was carried
out.

`proof.md` row by row: a status or a script that differs proves it; one that does not differ proves
nothing where the way back looks the same (failed → rendering → failed), so there only the ledger
tells.
"""

from __future__ import annotations

import hashlib
from typing import Any

from proxyapi.models import Charge, JobKind, JobState
from proxyapi.upstream.catalog import operation
from proxyapi.upstream.operation import Evidence
from proxyapi.watching.states import read


def before(record: dict[str, Any]) -> dict[str, object]:
    """What to keep of the resource as it was read just before sending."""
    return {
        "status": status_of(record),
        "script": digest(record.get("script")),
        "failure": failure_of(record),  # a retry clears it upstream, and people ask for it later
    }


def is_whole(charge: Charge, record: dict[str, Any]) -> bool:
    """Whether the record shows what proves this operation; what is not there was not seen."""
    kind = operation(charge.operation).evidence
    return ("script" if kind is Evidence.SCRIPT else "video") in record


def carried_out(charge: Charge, record: dict[str, Any]) -> bool:
    """Whether the resource, read again, proves that the charge's operation was carried out."""
    kind = operation(charge.operation).evidence
    if kind is Evidence.SCRIPT:
        script = record.get("script")
        return bool(script) and digest(script) != charge.before.get("script")
    status = status_of(record)
    if kind is Evidence.STATUS:
        return bool(status) and status != charge.before.get("status")
    # A retry starts from `failed`: any other word proves it, `failed` again proves nothing.
    return charge.operation == "faceless.retry" and status not in ("", "failed")


def status_of(record: dict[str, Any]) -> str:
    video = record.get("video")
    status = video.get("status") if isinstance(video, dict) else ""
    return status if isinstance(status, str) else ""


def failure_of(record: dict[str, Any]) -> dict[str, str] | None:
    sight = read(JobKind.FACELESS, record)
    if sight.state != JobState.FAILED:
        return None
    return {"code": sight.failure_code, "message": sight.failure_message}


def digest(script: object) -> str:
    return hashlib.sha256(str(script or "").encode()).hexdigest()
