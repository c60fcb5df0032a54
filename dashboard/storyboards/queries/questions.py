"""The price questions before clips are generated and before the film is rendered."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.formatting import clock, duration
from dashboard.shared.job_question import job_token_problem
from dashboard.shared.price_question import AmountRow, PriceQuestion
from dashboard.shared.storyboards.clip_prices import FREE_CLIPS_NOTE, ClipPriceForm
from dashboard.shared.storyboards.scene_states import SceneRow
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.storyboards.readiness.clip_plan import ClipPlan, PlannedClip, clips_version
from dashboard.storyboards.readiness.content import engine_name
from dashboard.storyboards.readiness.film import load_readiness
from dashboard.storyboards.readiness.problems import find_clips_problem, find_render_problem
from dashboard.storyboards.readiness.scene_numbers import list_scenes
from proxyapi import pricing
from proxyapi.kinds import SCENE_CLIPS_OPERATION
from proxyapi.models import Storyboard
from proxyapi.refusals import CreditCheck

LISTED_CLIPS = 8  # lines of the calculation; more are one line
BY_LIST_NOTE = "By the price list. The service names no price for scene clips."
EXACT_NOTE = "The last clips cost what was shown."
NO_REFUND_NOTICE = "The service promises no refund for a scene clip that fails."
LEFT_OUT_TEXT = "{scenes} {is_} not in this request and {need} a clip later."
RENDER_NOTICE = "If the render fails, the service promises no refund."
FORM_NOTES = {
    ClipPriceForm.ABOUT: BY_LIST_NOTE,
    ClipPriceForm.EXACT: EXACT_NOTE,
    ClipPriceForm.FREE: FREE_CLIPS_NOTE,
}


def build_clips_question(
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    reader: Membership,
    ids: Collection[str],
) -> PriceQuestion:
    """A refused form keeps its key: it charged nothing and cannot charge twice. Eight queries."""
    ready = load_readiness(storyboard, rows)
    plan = ready.plan
    chosen = plan.choose(ids)
    price = plan.price_of(chosen) if chosen else None
    hold = (
        pricing.hold_for_operation(SCENE_CLIPS_OPERATION, price)
        if price is not None
        else Decimal(0)
    )
    check = storyboard.account.check_credits(hold, ready.available)
    count = "1 clip" if len(chosen) == 1 else f"{len(chosen)} clips"
    notices = (plan.anew_text, left_out_text(plan, chosen), NO_REFUND_NOTICE)
    return PriceQuestion(
        label=f"Generate {count}" if chosen else "Generate",
        heading=f"Generate {count}?" if chosen else "Generate clips",
        title=storyboard.title,
        summary=clips_summary(storyboard, chosen),
        price=price,
        is_exact=plan.form == ClipPriceForm.EXACT,
        price_note=FORM_NOTES[plan.form],
        parts=tuple(clip_rows(chosen, plan.form)) if len(chosen) > 1 and price else (),
        credit_check=check,
        budget=build_budget_impact(reader, hold, job_id=storyboard.copy_id),
        unmet=tuple(find_unmet(storyboard, find_clips_problem(ready, chosen), check)),
        notice=" ".join(filter(None, notices)),
        url=reverse("storyboard-clips", args=[storyboard.pk]),
        cancel_url=reverse("storyboard", args=[storyboard.pk]),
        hidden_fields={
            "scenes": ",".join(clip.id for clip in chosen),
            "version": clips_version(storyboard, rows, {clip.id for clip in chosen}),
        },
    )


def left_out_text(plan: ClipPlan, chosen: Sequence[PlannedClip]) -> str:
    """Say which clips that are lost are not made again by this."""
    ids = {clip.id for clip in chosen}
    left_out = [clip.row.number for clip in plan.again if clip.id not in ids]
    if not left_out or not plan.why_anew:
        return ""
    is_, need = ("is", "needs") if len(left_out) == 1 else ("are", "need")
    return LEFT_OUT_TEXT.format(scenes=list_scenes(left_out), is_=is_, need=need)


def clips_summary(storyboard: Storyboard, chosen: Sequence[PlannedClip]) -> str:
    """Return a line such as `Scenes 4, 6 and 7 with Marlow 02, 26 s, 16:9, 512P.`"""
    if not chosen:
        return ""
    numbers = [clip.row.number for clip in chosen]
    seconds = sum(clip.row.scene.duration for clip in chosen)
    engine = engine_name(storyboard)
    facts = (duration(seconds), storyboard.aspect_ratio, storyboard.resolution)
    return f"{list_scenes(numbers)} with {engine}, {', '.join(filter(None, facts))}."


def clip_rows(chosen: Sequence[PlannedClip], form: ClipPriceForm) -> Iterator[AmountRow]:
    listed = chosen if len(chosen) <= LISTED_CLIPS else chosen[: LISTED_CLIPS - 1]
    for clip in listed:
        label = f"Scene {clip.row.number}, {clip.text}"
        yield AmountRow(label, clip.credits or Decimal(0), form)
    if rest := chosen[len(listed) :]:
        total = sum((clip.credits or Decimal(0) for clip in rest), Decimal(0))
        yield AmountRow(f"{len(rest)} more scenes", total, form)


def build_render_question(
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    reader: Membership,
) -> PriceQuestion:
    """Eight queries."""
    ready = load_readiness(storyboard, rows)
    price = ready.render.price
    hold = price or Decimal(0)
    quoted_at = f" at {clock(ready.render.as_of)}" if ready.render.as_of else ""
    seconds = sum(row.scene.duration for row in rows)
    check = storyboard.account.check_credits(hold, ready.available)
    count = "1 scene" if len(rows) == 1 else f"{len(rows)} scenes"
    return PriceQuestion(
        label="Render",
        title=storyboard.title,
        summary=f"{count}, {duration(seconds)}.",
        price=price,
        is_exact=True,
        price_note=f"Exact, quoted by the service{quoted_at}",
        credit_check=check,
        budget=build_budget_impact(reader, hold, job_id=storyboard.copy_id),
        unmet=tuple(find_unmet(storyboard, find_render_problem(ready), check)),
        notice=RENDER_NOTICE,
        url=reverse("storyboard-render", args=[storyboard.pk]),
        cancel_url=reverse("storyboard", args=[storyboard.pk]),
        hidden_fields={"version": clips_version(storyboard, rows, all_ids(rows))},
    )


def all_ids(rows: Sequence[SceneRow]) -> frozenset[str]:
    return frozenset(str(row.scene.pk) for row in rows)


def find_unmet(storyboard: Storyboard, problem: str, check: CreditCheck) -> Iterator[str]:
    shortfall = credit_shortfall_text(check)
    yield from filter(None, (problem, job_token_problem(storyboard), shortfall))
