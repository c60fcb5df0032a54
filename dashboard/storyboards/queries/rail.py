"""The rail beside the scenes: what is left before the render, the clips to generate, the render."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.formatting import credit_rate
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.price_question import AmountRow
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.clip_prices import FREE_CLIPS_NOTE, ClipPriceForm, clip_price_text
from dashboard.shared.storyboards.scene_states import SceneRow, storyboard_model
from dashboard.storyboards.readiness.clip_orders import partly_started_text
from dashboard.storyboards.readiness.clip_plan import ClipPlan, PlannedClip
from dashboard.storyboards.readiness.film import FilmReadiness, load_readiness
from dashboard.storyboards.readiness.needs import Need
from dashboard.storyboards.readiness.render_price import PriceState
from proxyapi import pricing
from proxyapi.kinds import SCENE_CLIPS_OPERATION
from proxyapi.models import Storyboard

ASKS_ONCE_MORE = "Asks once more before it charges."
TICK_A_SCENE = "Tick a scene to generate its clip."
NO_CLIP_PRICE = "The service’s list has no price for these settings."
NOT_CLEAR = "Available when nothing is left above."
ASKING = "The service is asked for the price."
PRICE_FIRST = "Available when the price is known."
FINISHED_TEXT = "The film is finished. To make it again, tick the scenes: it is sent anew."


@dataclass(frozen=True, slots=True)
class ClipPick:
    clip: PlannedClip
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ClipSum:
    """The sum of the chosen clips, and the button that opens the price question."""

    count: int
    price: Decimal | None
    form: ClipPriceForm
    rows: tuple[AmountRow, ...]
    label: str
    price_text: str
    note: str
    is_ready: bool

    @property
    def noun(self) -> str:
        return "1 clip" if self.count == 1 else f"{self.count} clips"


@dataclass(frozen=True, slots=True)
class ClipPickCard:
    picks: tuple[ClipPick, ...]
    rate: str  # credits per second; empty if clips are free
    free_note: str
    anew_text: str
    notice: str  # why the last request was refused, or started only some of its clips
    total: ClipSum
    url: str


@dataclass(frozen=True, slots=True)
class RenderCard:
    state: PriceState
    price: Decimal | None
    as_of: datetime | None
    error: str
    refused: str  # why the last render was refused
    is_ready: bool
    note: str
    question_url: str
    price_url: str
    can_request: bool
    requests_itself: bool  # when it is displayed: nothing is left to do and there is no price
    film_url: str  # of the finished film

    @property
    def price_text(self) -> str:
        return clip_price_text(self.price, ClipPriceForm.EXACT)


@dataclass(frozen=True, slots=True)
class Rail:
    """`clips` is None if there is nothing to generate, or the reader generates nothing."""

    needs: tuple[Need, ...]
    left: int
    can_edit: bool
    fix_url: str
    clips: ClipPickCard | None
    render: RenderCard | None


def build_rail(
    reader: Membership,
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    chosen: Collection[str] | None = None,
    ready: FilmReadiness | None = None,
) -> Rail:
    """`chosen` are the ids of the ticked scenes, by default all that can be generated. At most nine
    queries, five of them for budgets."""
    ready = ready or load_readiness(storyboard, rows)
    can_render = has_permission(reader, Permission.RENDER)
    can_edit = can_render and not ready.is_rendering
    needs = ready.needs if can_edit else tuple(replace(it, url="") for it in ready.needs)
    clips = build_clip_card(reader, storyboard, rows, ready, chosen) if can_edit else None
    return Rail(
        needs=needs,
        left=ready.left,
        can_edit=can_edit,
        fix_url=reverse("storyboard-durations", args=[storyboard.pk]),
        clips=clips,
        render=build_render_card(storyboard, ready) if can_render else None,
    )


def build_clip_card(
    reader: Membership,
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    ready: FilmReadiness,
    chosen: Collection[str] | None,
) -> ClipPickCard | None:
    plan = ready.plan
    if not plan.clips:
        return None
    ids = plan.default_ids if chosen is None else frozenset(chosen)
    model = storyboard_model(storyboard)
    options = {"resolution": storyboard.resolution, "audio": storyboard.audio}
    is_free = plan.form == ClipPriceForm.FREE
    rate = model.rate_of(options) if model and not is_free else None
    return ClipPickCard(
        picks=tuple(ClipPick(clip, clip.id in ids and not clip.blocked) for clip in plan.clips),
        rate=f"{credit_rate(rate)} cr per second" if rate is not None else "",
        free_note=FREE_CLIPS_NOTE if is_free else "",
        anew_text=FINISHED_TEXT if plan.is_rendered else "",
        notice=ready.orders.refused_text or partly_started_text(ready.orders, rows),
        total=build_clip_sum(reader, plan, plan.choose(ids)),
        url=reverse("storyboard-clips", args=[storyboard.pk]),
    )


def build_clip_sum(reader: Membership, plan: ClipPlan, chosen: Sequence[PlannedClip]) -> ClipSum:
    """At most five queries, none if nothing is to be paid."""
    price = plan.price_of(chosen)
    count, note, price_text = len(chosen), ASKS_ONCE_MORE, clip_price_text(price, plan.form)
    rows: tuple[AmountRow, ...] = ()
    noun = "1 clip" if count == 1 else f"{count} clips"
    label = f"Generate {noun}" if count else "Generate"
    if not chosen:
        note = TICK_A_SCENE
    elif price is None:
        note = NO_CLIP_PRICE
    elif price and (budget := build_budget_impact(reader, clips_hold(price))):
        rows = (AmountRow("Left of your budget", max(budget.after, Decimal(0)), note=budget.note),)
        if budget.refusal:
            rows = (AmountRow(budget.label, budget.left, note=budget.note),)
            label, note = f"Ask for {price_text}", budget.refusal
    return ClipSum(
        count=count,
        price=price,
        form=plan.form,
        rows=rows,
        label=label,
        price_text="" if not chosen or label.startswith("Ask") else price_text,
        note=note,
        is_ready=bool(chosen) and price is not None,
    )


def clips_hold(price: Decimal) -> Decimal:
    return pricing.hold_for_operation(SCENE_CLIPS_OPERATION, price)


def build_render_card(storyboard: Storyboard, ready: FilmReadiness) -> RenderCard:
    price, job = ready.render, storyboard.copy
    is_rendered = ready.plan.is_rendered
    # A price is asked of a copy: one that takes the place of clips is not made for it.
    can_request = not ready.is_rendering and not is_rendered and not ready.plan.why_anew
    has_price = price.state == PriceState.KNOWN
    is_asking = price.state == PriceState.PENDING and not price.is_overdue
    note = ""
    if ready.left:
        note = NOT_CLEAR
    elif not has_price:
        note = ASKING if is_asking else PRICE_FIRST
    has_scenes = any(need.url != "#scenes" for need in ready.needs)
    return RenderCard(
        state=price.state,
        price=price.price,
        as_of=price.as_of,
        error=price.error,
        refused=ready.orders.refused_render_text,
        is_ready=ready.is_ready and has_price and not ready.is_rendering,
        note="" if ready.is_rendering or is_rendered else note or ASKS_ONCE_MORE,
        question_url=reverse("storyboard-render", args=[storyboard.pk]),
        price_url=reverse("storyboard-price", args=[storyboard.pk]),
        can_request=can_request and not has_price and not is_asking and has_scenes,
        requests_itself=can_request
        and ready.is_ready
        and price.state == PriceState.NONE
        and not price.error,
        film_url=job_page_url(job) if is_rendered and job is not None else "",
    )
