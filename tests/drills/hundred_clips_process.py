"""A process that has the database of a running portal, which the drill itself has not.

`python -m tests.drills.hundred_clips_process insert` puts clips in as rows that render,
`describe_jobs` reads them and all charges; each takes one line of JSON and answers one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import django


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.settings"
    django.setup()
    asked = json.loads(sys.stdin.read())
    answer = {"insert": insert_jobs, "tell": describe_jobs}[sys.argv[1]](asked)
    print(json.dumps(answer), flush=True)


def insert_jobs(asked: dict[str, Any]) -> dict[str, Any]:
    """As if each had been ordered: on the account's tokens in turn, due a few seconds from now."""
    from django.utils import timezone

    from proxyapi.models import Job, JobKind, JobState, Token

    tokens = Token.objects.filter(account__upstream_id=asked["account"])
    of, now = list(tokens.select_related("tenant", "account", "owner")), timezone.now()
    made = Job.objects.bulk_create(
        Job(
            tenant=of[number % len(of)].tenant,
            account=of[number % len(of)].account,
            token=of[number % len(of)],
            member=of[number % len(of)].owner,
            kind=JobKind.CLIP,
            title=f"Clip {number}",
            state=JobState.RUNNING,
            remote_id=clip,
            raw_status="processing",
            started_at=now - timedelta(seconds=number),
            polled_at=now,
            next_poll_at=now + timedelta(seconds=5),
        )
        for number, clip in enumerate(asked["clips"])
    )
    return {"rows": len(made), "tokens": len(of)}


def describe_jobs(asked: dict[str, Any]) -> dict[str, Any]:
    from proxyapi.models import Job, JobKind

    clips = Job.objects.filter(kind=JobKind.CLIP, remote_id__in=asked["clips"])
    told = clips.values("remote_id", "state", "failures", "poll_error")
    return {"clips": list(told), "charges": list(list_charges())}


def list_charges() -> Iterator[dict[str, str]]:
    """Each with the call that it is the intent of; not those that could not be sent yet."""
    from proxyapi.charges.dispatch import build_path_params
    from proxyapi.models import Charge
    from proxyapi.operations import get_operation

    for charge in Charge.objects.select_related("job", "account"):
        row, path = get_operation(charge.operation), build_path_params(charge)
        if path.keys() < {*row.path_parameters}:
            continue
        yield {
            "method": row.method,
            "path": "/v2" + row.path.format(**path),
            "written": charge.created_at.isoformat(),
            "state": charge.state,
            "cost": str(charge.cost or 0),
            "account": str(charge.account.upstream_id),
        }


if __name__ == "__main__":
    main()
