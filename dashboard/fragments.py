"""What a push carries: the fragments that show what changed, rendered once for the whole team.

Only whole-team truth goes in. A place for what depends on the reader is left empty and fills itself
under the reader's own session.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from dashboard.queries.purse import counts_of, purse_of
from dashboard.queries.service import service_of
from dashboard.queries.studio import price_of
from dashboard.queries.videos.cards import rows, tell
from dashboard.queries.videos.pages import video_from
from dashboard.queries.videos.usual import usuals
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import Job, JobState, Vault

MOST = 48  # videos in one bundle


class TooMuch(Exception):
    """News of more videos than a bundle holds: pages look at everything again."""


def bundle(vault_id: UUID, news: Collection[ChangeEvent]) -> str:
    """The HTML of everything that this news changes. Eight queries, and two more a draft.

    Raises `TooMuch`.
    """
    vault = Vault.objects.get(pk=vault_id)
    with timezone.override(vault.zone):
        return told(vault, news)


def told(vault: Vault, news: Collection[ChangeEvent]) -> str:
    vault_id = vault.pk
    usual, now = usuals(vault_id), timezone.now()
    jobs = list(rows(changed(vault_id, news)))
    if len(jobs) > MOST:
        raise TooMuch
    context = {
        "videos": [video_from(tell(job, usual, now), usual) for job in jobs],
        "prices": [price_of(job) for job in jobs if job.state == JobState.DRAFT],
        "purse": purse_of(vault),
        "counts": counts_of(vault)[1],
        "service": service_of(vault),
    }
    return render_to_string("dashboard/video/push.html", context)


def changed(vault_id: UUID, news: Collection[ChangeEvent]) -> QuerySet[Job]:
    ids: dict[EventType, set[UUID]] = {event: set() for event in EventType}
    for one in news:
        ids[one.event_type].add(one.id)
    touched = Q(pk__in=ids[EventType.JOB]) | Q(charges__in=ids[EventType.CHARGE])
    # A token that stops or works again changes what is known of all that runs on it.
    touched |= Q(token__in=ids[EventType.TOKEN], state=JobState.RUNNING)
    return Job.objects.visible().filter(touched, vault_id=vault_id).distinct()[: MOST + 1]
