"""What people do in the studio: start a draft, save a step, have a script written, render,
retry."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.actions.charging import charge_or_ask
from dashboard.models import Membership
from dashboard.roles import Permission
from proxyapi import drafts, pricing, tasks
from proxyapi.charges import ChargeIntent, find_submitted_charge
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge, Job, JobKind, JobState, Token
from proxyapi.refusals import NotReady, StaleData, TokenRefused, format_credits

TOKENLESS = "You have no token here yet. Add yours, then everything you make runs on it."
ASK_FIRST = "There is no price for it as it stands. Ask for the price first; nothing was sent."
REPRICED = "Not sent. The price was {seen} cr and is {now} cr now"
CHANGED = ": the draft was changed or priced again meanwhile."
OTHER_FAILURE = (
    "Not sent. The failure you were asked about is not the last one of this video. "
    "Nothing was charged; the last one stands above."
)
SENT = "This video was sent to be rendered already. Nothing was sent twice."
WAYS_OUT = {
    "script": "A script is needed before rendering.",
    "voice_id": "A voice is needed before rendering.",
    "genre_id": "A genre is needed before rendering AI visuals.",
}


@transaction.atomic
def start_draft(*, by: Membership, title: str, wanted: dict[str, Any]) -> Job:
    """A new draft on the member's own token. It costs nothing and lives here until it is priced."""
    check(by, Permission.RENDER)
    token = token_of(by)
    job = Job.objects.create(
        vault=by.team.vault,
        account=token.account,
        token=token,
        member=by.user,
        kind=JobKind.FACELESS,
        title=title,
        wanted={**wanted, "title": title},
    )
    note(by, "draft.start", job.pk)
    return job


def token_of(by: Membership) -> Token:
    mine = Token.objects.usable().filter(vault=by.team.vault, owner=by.user)
    token = token_vault.first_decryptable(mine.select_related("account").best_first())
    if token is None:
        stored = Token.objects.not_removed().filter(vault=by.team.vault, owner=by.user)
        paused = (it.account.pause_reason for it in stored.select_related("account"))
        raise TokenRefused(next(filter(None, paused), TOKENLESS))
    return token


@transaction.atomic
def save_step(*, by: Membership, job: Job, changes: dict[str, Any], edited_at: str = "") -> Job:
    """Keep what was chosen. `edited_at` is what the form was drawn from; another writer wins
    once."""
    check(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    if changes == {name: job.wanted.get(name) for name in changes}:
        return job
    if edited_at and edited_at != job.edited_at.isoformat():
        raise StaleData(
            "Somebody changed this draft meanwhile. Your words are below; look and save again."
        )
    # A render that is on its way was priced as it stands: what is changed now would be charged too.
    if job.state not in (JobState.DRAFT, JobState.FAILED) or job.charges.starting_jobs().exists():
        raise NotReady("This video is rendering. Its settings can be changed when it has finished.")
    job.wanted = {**job.wanted, **changes}
    job.title = str(job.wanted.get("title") or job.title)[:200]
    job.estimate, job.quote_error, job.edited_at = None, "", timezone.now()
    job.save()
    note(by, "draft.save", job.pk, fields=sorted(changes))
    ask_price(by=by, job=job)
    return job


def ask_price(*, by: Membership, job: Job) -> None:
    """Have the price asked in the background, if all that the service needs is there.

    A price that an approver was shown stays until another is there: without one the approval
    would end as if the video had changed.
    """
    check(by, Permission.RENDER)
    if not drafts.missing_render_fields(job.wanted) or drafts.has_unread_script(job):
        due_at = timezone.now() + tasks.TICK_DELAY
        keeps = job.has_current_estimate and drafts.awaits_approval(job)
        gone = {} if keeps else {"estimate": None}
        Job.objects.filter(pk=job.pk).update(quote_error="", quote_due_at=due_at, **gone)
        tasks.enqueue_task_after_commit(tasks.quote_draft_task, job.pk)


@transaction.atomic
def write_script(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    topic: str,
    duration: int,
    style: str,
    tone: str,
    language: str,
    words: str | None = None,
) -> Charge:
    """Have the service write the script. It charges the same each time (spec, Credit charges).

    `seen`, here and below, is the price that was shown, in credits: at another one nothing is sent.
    With `words`, here and below, it is asked for instead: the budget has no room for it.
    """
    check(by, Permission.RENDER)
    chosen = {
        "topic": topic,
        "duration": duration,
        "style": style,
        "tone": tone,
        "language": language,
    }
    body = {name: value for name, value in chosen.items() if value not in ("", None)}
    if sent := find_submitted_charge(job, "faceless.scripts", nonce, body):
        return sent
    require(
        job,
        JobState.DRAFT,
        "This video was rendered already. Start a new one for a new script.",
    )
    price = pricing.script_credits(job.account)
    require_price(seen, price)
    intent = ChargeIntent(job, by.user_id, "faceless.scripts", nonce, price, price, body)
    return charge_or_ask(by, intent, words)


@transaction.atomic
def render(
    *, by: Membership, job: Job, nonce: UUID, seen: Decimal, words: str | None = None
) -> Charge:
    """Render the draft at its estimate, with a hold a little above it."""
    check(by, Permission.RENDER)
    if sent := find_submitted_charge(job, "faceless.render", nonce, {}):
        return sent
    require(job, JobState.DRAFT, SENT)
    for name in drafts.missing_render_fields(job.wanted):
        raise NotReady(WAYS_OUT[name])
    if not job.has_current_estimate or job.estimate is None:
        raise NotReady(ASK_FIRST)
    require_price(seen, job.estimate, CHANGED)
    intent = ChargeIntent(
        job,
        by.user_id,
        "faceless.render",
        nonce,
        pricing.hold_for_estimate(job.estimate),
        job.estimate,
    )
    return charge_or_ask(by, intent, words)


@transaction.atomic
def retry(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    failed_at: str,
    words: str | None = None,
) -> Charge:
    """Run a failed render again. It charges again, about what it took last time (pitfalls 41, 42).

    `failed_at` is the time of the failure that was shown, ISO 8601: for another nothing is sent.
    """
    check(by, Permission.RENDER)
    if sent := find_submitted_charge(job, "faceless.retry", nonce, {}):
        return sent
    require(job, JobState.FAILED, "Only a failed render is retried. This one did not fail.")
    require_failure(failed_at, job)
    quote = pricing.estimate_retry_price(job)
    if quote is None:
        raise NotReady(ASK_FIRST)
    require_price(seen, quote)
    hold = pricing.hold_for_estimate(quote)
    intent = ChargeIntent(job, by.user_id, "faceless.retry", nonce, hold, quote)
    return charge_or_ask(by, intent, words)


@transaction.atomic
def hide(*, by: Membership, job: Job) -> None:
    """Take it out of the library. The service has no delete, and credits do not come back."""
    check(by, Permission.RENDER)
    Job.objects.filter(pk=job.pk).update(hidden_at=timezone.now())
    publish_event(job.vault_id, EventType.JOB, job.pk)
    note(by, "video.hide", job.pk)


@transaction.atomic
def show_again(*, by: Membership, job: Job) -> None:
    """Put a hidden video back into the library; one that is there stays there."""
    check(by, Permission.RENDER)
    if Job.objects.filter(pk=job.pk, hidden_at__isnull=False).update(hidden_at=None):
        publish_event(job.vault_id, EventType.JOB, job.pk)
        note(by, "video.show", job.pk)


def require(job: Job, state: JobState, sentence: str) -> None:
    if job.state != state:
        raise NotReady(sentence)


def require_failure(shown: str, job: Job) -> None:
    """Nobody pays for a failure they did not see: only its time tells it from the one before."""
    if shown != (job.finished_at.isoformat() if job.finished_at else ""):
        raise StaleData(OTHER_FAILURE)


def require_price(seen: Decimal, now: Decimal, why: str = ".") -> None:
    """Nothing goes at a price that nobody saw. Raises `Stale`, with the price of now."""
    if seen != now:
        raise StaleData(REPRICED.format(seen=format_credits(seen), now=format_credits(now)) + why)
