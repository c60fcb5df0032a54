"""Have clips generated, ask for the price of the render, and have the film rendered."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.access import check_permission
from dashboard.shared.charging import (
    CONFIRMED,
    PRICE_MISSING,
    ConfirmAnswer,
    lock_spending_rules,
    submit_charge,
)
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.storyboards.actions.copies import place_in_copy
from dashboard.storyboards.readiness.clip_plan import clips_version
from dashboard.storyboards.readiness.film import load_readiness
from dashboard.storyboards.readiness.problems import find_clips_problem, find_render_problem
from dashboard.storyboards.readiness.render_price import PriceState
from proxyapi import tasks
from proxyapi.charges import find_submitted_charge
from proxyapi.kinds import SCENE_CLIPS_OPERATION, STORYBOARD_RENDER_OPERATION
from proxyapi.models import Charge, Draft, Storyboard
from proxyapi.refusals import NotReady, StaleData

CHANGED_SINCE_SHOWN = (
    "The storyboard was changed since this was shown. Nothing was sent. Review it first."
)
PRICE_MOVED = "The price is now {now} cr, it was {seen} cr when you opened this. Nothing was sent."
NO_PRICE_OF_NEW_FILM = (
    "The film is sent anew before its price can be asked for. Generate its clips first."
)


@transaction.atomic
def generate_clips(
    *,
    by: Membership,
    storyboard: Storyboard,
    scene_ids: Collection[str],
    version: str,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Have the clips of these scenes generated, at the price `seen` (credits) and as they were when
    the question was shown (`version`). If the answer has a note, an approval is requested instead.

    Raises `Refusal`; then nothing was sent, and the copy at the service stays as it is.
    """
    check_permission(by, Permission.RENDER)
    lock_spending_rules(by)  # before the account, which `place_in_copy` locks
    if submitted := find_submitted(storyboard, SCENE_CLIPS_OPERATION, nonce, scene_ids):
        return submitted
    storyboard = read_storyboard(storyboard)
    body = quote_clips(storyboard, scene_ids, version, seen)
    copy = place_in_copy(by=by, storyboard=storyboard)
    return submit_charge(
        by, copy, SCENE_CLIPS_OPERATION, nonce, lambda: seen, body=body, answer=answer
    )


def read_storyboard(storyboard: Storyboard) -> Storyboard:
    """Return the storyboard as it is now."""
    related = ("account", "token", "copy__draft")
    return Storyboard.objects.select_related(*related).get(pk=storyboard.pk)


def find_submitted(
    storyboard: Storyboard, operation: str, nonce: UUID, scene_ids: Collection[str] | None = None
) -> Charge | None:
    """Return the charge that this form already created, in the current copy."""
    if storyboard.copy is None:
        return None
    body = {} if scene_ids is None else {"scenes": sorted(scene_ids)}
    return find_submitted_charge(storyboard.copy, operation, nonce, body)


def quote_clips(
    storyboard: Storyboard, scene_ids: Collection[str], version: str, seen: Decimal
) -> dict[str, object]:
    """Return the body of the request; raise `Refusal` if it cannot be sent at this price."""
    rows = load_scene_rows(storyboard)
    if version != clips_version(storyboard, rows, scene_ids):
        raise StaleData(CHANGED_SINCE_SHOWN)
    ready = load_readiness(storyboard, rows)
    chosen = ready.plan.choose(scene_ids)
    if problem := find_clips_problem(ready, chosen):
        raise NotReady(f"{problem.rstrip('.')}. Nothing was sent.")
    require_same_price(seen, ready.plan.price_of(chosen))
    return {"scenes": sorted(clip.id for clip in chosen)}


def require_same_price(seen: Decimal, now: Decimal | None) -> None:
    if now is None:
        raise NotReady(PRICE_MISSING)
    if seen != now:
        raise StaleData(PRICE_MOVED.format(now=credits(now), seen=credits(seen)))


@transaction.atomic
def request_render_price(*, by: Membership, storyboard: Storyboard) -> None:
    """Have a worker send what changed and ask for the price, free of charge; the page shows it when
    it is there. Nothing is requested again while a price is awaited, or if it is known."""
    check_permission(by, Permission.RENDER)
    rows = load_scene_rows(storyboard)
    ready = load_readiness(storyboard, rows)
    is_asked = ready.render.state == PriceState.PENDING and not ready.render.is_overdue
    if is_asked or ready.render.state == PriceState.KNOWN:
        return
    if ready.plan.why_anew:
        raise NotReady(NO_PRICE_OF_NEW_FILM)
    copy = place_in_copy(by=by, storyboard=storyboard)
    due_at = timezone.now() + tasks.TICK_DELAY
    drafts = Draft.objects.filter(pk=copy.pk)
    drafts.update(estimate=None, quote_error="", quote_fields=None, quote_due_at=due_at)
    tasks.enqueue_task_after_commit(tasks.quote_draft_task, copy.pk)


@transaction.atomic
def render_storyboard(
    *,
    by: Membership,
    storyboard: Storyboard,
    version: str,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Have the film rendered, at exactly the price `seen` (credits) and as the scenes were when the
    question was shown (`version`). If the answer has a note, an approval is requested instead."""
    check_permission(by, Permission.RENDER)
    lock_spending_rules(by)  # before the account, which `place_in_copy` locks
    if submitted := find_submitted(storyboard, STORYBOARD_RENDER_OPERATION, nonce):
        return submitted
    storyboard = read_storyboard(storyboard)
    quote_render(storyboard, version, seen)
    copy = place_in_copy(by=by, storyboard=storyboard)
    return submit_charge(by, copy, STORYBOARD_RENDER_OPERATION, nonce, lambda: seen, answer=answer)


def quote_render(storyboard: Storyboard, version: str, seen: Decimal) -> None:
    """Raise `Refusal` if the film cannot be rendered at this price."""
    rows = load_scene_rows(storyboard)
    if version != clips_version(storyboard, rows, {str(row.scene.pk) for row in rows}):
        raise StaleData(CHANGED_SINCE_SHOWN)
    ready = load_readiness(storyboard, rows)
    if problem := find_render_problem(ready):
        raise NotReady(f"{problem.rstrip('.')}. Nothing was sent.")
    require_same_price(seen, ready.render.price)
