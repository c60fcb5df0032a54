"""Have the service write the scenes of a storyboard."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.access import check_permission
from dashboard.shared.charging import CONFIRMED, ConfirmAnswer, require_shown_price, submit_charge
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_writing import writing_body
from dashboard.storyboards.actions.copies import place_for_writing
from dashboard.storyboards.readiness.writing import NO_DESCRIPTION, find_writing_problem
from proxyapi import pricing
from proxyapi.kinds import WRITING_OPERATION
from proxyapi.models import Charge, Storyboard
from proxyapi.refusals import NotReady

UNSENT = "Nothing was sent."


class WritingRequest(NamedTuple):
    description: str
    style: str
    scene_count: int


def write_scenes(
    *,
    by: Membership,
    storyboard: Storyboard,
    request: WritingRequest | None = None,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Have the scenes written, at about the price `seen` (credits), and keep what was asked for.
    They replace those of the storyboard when they are there. With a note in the answer an approval
    is requested instead. Raises `Refusal`."""
    check_permission(by, Permission.RENDER)
    sent = Charge.objects.filter(
        nonce=nonce,
        operation=WRITING_OPERATION,
        job__storyboard_copy__storyboard=storyboard,
    ).first()
    if sent is not None:
        return sent  # the form was sent twice; a second copy is not made for it
    if request is not None:
        store_writing_request(storyboard, request)
    if not storyboard.description:
        raise NotReady(f"{NO_DESCRIPTION} {UNSENT}")
    if problem := find_writing_problem(storyboard):
        raise NotReady(problem if problem.endswith("twice.") else f"{problem} {UNSENT}")
    # In a transaction of its own: budgets are locked before the account, which this locks. A copy
    # that is not used is taken by the next request.
    copy = place_for_writing(by=by, storyboard=storyboard)
    return submit_charge(
        by,
        copy,
        WRITING_OPERATION,
        nonce,
        partial(quote_writing, storyboard, seen),
        body=writing_body(storyboard),
        answer=answer,
    )


def store_writing_request(storyboard: Storyboard, request: WritingRequest) -> None:
    fields = {**request._asdict(), "edited_at": timezone.now()}
    for name, value in fields.items():
        setattr(storyboard, name, value)
    storyboard.save(update_fields=[*fields])


def quote_writing(storyboard: Storyboard, seen: Decimal) -> Decimal:
    """Return about how many credits it costs; raise `StaleData` if another price was shown."""
    price = pricing.script_credits(storyboard.account)
    require_shown_price(seen, price)
    return price
