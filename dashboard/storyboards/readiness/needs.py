"""What a storyboard lacks before its film can be rendered: a line each, with what is done about
it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from dashboard.shared.clip_models import OPTION_LABELS, ClipModel
from dashboard.shared.formatting import credits, duration
from dashboard.shared.job_question import job_token_problem
from dashboard.shared.storyboards.clip_prices import clip_price_text
from dashboard.shared.storyboards.rendering import StoryboardLock
from dashboard.shared.storyboards.scene_states import (
    SceneRow,
    SceneState,
    scene_clip_credits,
    storyboard_model,
)
from dashboard.shared.team_balance import available_credits_text
from dashboard.shared.videos.charge_status import APPROVERS_DECIDE_TEXT, open_charge_texts
from dashboard.storyboards.readiness.clip_orders import ClipOrders
from dashboard.storyboards.readiness.clip_plan import ClipPlan
from dashboard.storyboards.readiness.content import engine_name
from dashboard.storyboards.readiness.scene_numbers import list_scenes
from proxyapi.models import Storyboard

SETTING_NAMES = ("aspect_ratio", "resolution", "audio")
NO_SCENES = "There are no scenes yet"
ENGINE_GONE = "{engine} is no longer in your plan"
SETTING_NOT_OFFERED = "{value} is not offered by {engine}"
WAITING_TEXT = "{price} cr for {count} wait for an approval. {who}"
FIX_NOTE = "{scenes} then {needs}{price}."


@dataclass(frozen=True, slots=True)
class DurationFix:
    """A scene whose length the engine does not make, and the nearest it makes."""

    row: SceneRow
    seconds: int

    @property
    def label(self) -> str:
        ready = ", ready" if self.row.state == SceneState.READY else ""
        return f"Scene {self.row.number}{ready}"


@dataclass(frozen=True, slots=True)
class Need:
    """A line of the list. `state` is a glyph; everything but `good` is left to do.

    `url` with `action_label` is a link; `fixes` are set together by a button.
    """

    state: str
    text: str
    url: str = ""
    action_label: str = ""
    fixes: tuple[DurationFix, ...] = ()
    note: str = ""

    @property
    def is_met(self) -> bool:
        return self.state == "good"


def find_needs(
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    plan: ClipPlan,
    orders: ClipOrders,
    available: Decimal,
    lock: StoryboardLock,
) -> tuple[Need, ...]:
    """No query but that of a lost token."""
    model = storyboard_model(storyboard)
    now = timezone.now()
    return (
        *setting_needs(storyboard, model),
        *scene_needs(storyboard, rows, plan),
        *clip_needs(plan),
        *render_needs(lock),
        *order_needs(storyboard, rows, orders, now),
        *met_needs(storyboard, model),
        *money_needs(storyboard, plan, available),
    )


def setting_needs(storyboard: Storyboard, model: ClipModel | None) -> Iterator[Need]:
    if model is None:
        engine = engine_name(storyboard) or "The engine"
        yield Need("failed", ENGINE_GONE.format(engine=engine), "#film-bar", "Pick another")
        return
    for name in unoffered_settings(storyboard, model):
        value = str(getattr(storyboard, name))
        text = SETTING_NOT_OFFERED.format(value=value, engine=model.name)
        yield Need("failed", text, "#film-bar", f"Choose {OPTION_LABELS[name].lower()}")


def unoffered_settings(storyboard: Storyboard, model: ClipModel) -> list[str]:
    """Return the names of the settings that the engine does not offer as they are."""
    chosen = {name: getattr(storyboard, name) for name in SETTING_NAMES}
    offered = {menu.name: menu for menu in model.offered_menus(chosen)}
    return [
        name
        for name, value in chosen.items()
        if value and name in offered and offered[name].find(value) is None
    ]


def scene_needs(storyboard: Storyboard, rows: Sequence[SceneRow], plan: ClipPlan) -> Iterator[Need]:
    if not rows:
        yield Need("late", NO_SCENES, "#scenes", "Add one")
    fixes = tuple(
        DurationFix(row, row.nearest_duration) for row in rows if row.nearest_duration is not None
    )
    if fixes:
        noun = "1 duration is" if len(fixes) == 1 else f"{len(fixes)} durations are"
        label = "Fix it" if len(fixes) == 1 else f"Fix all {len(fixes)}"
        note = fix_note(storyboard, fixes, plan)
        yield Need("failed", f"{noun} not offered", action_label=label, fixes=fixes, note=note)
    without_prompt = [row for row in rows if not row.scene.prompt.strip()]
    if without_prompt:
        has = "has" if len(without_prompt) == 1 else "have"
        text = f"{list_scenes([row.number for row in without_prompt])} {has} no prompt"
        yield Need("late", text, scene_url(storyboard, without_prompt[0]), "Write it")
    for clip in plan.clips:
        if clip.reason.startswith("needs a first"):
            text = f"Scene {clip.row.number} {clip.reason}"
            yield Need("late", text, scene_url(storyboard, clip.row), "Add one")


def fix_note(storyboard: Storyboard, fixes: Sequence[DurationFix], plan: ClipPlan) -> str:
    """Return what the new lengths cost later; empty if no clip is lost by them."""
    ready = [fix for fix in fixes if fix.row.state == SceneState.READY]
    if not ready:
        return ""
    model = storyboard_model(storyboard)
    amounts = [scene_clip_credits(storyboard, model, fix.seconds) for fix in ready]
    total = sum((amount for amount in amounts if amount is not None), Decimal(0))
    price = clip_price_text(total if None not in amounts else None, plan.form)
    needs = "needs a new clip" if len(ready) == 1 else "need new clips"
    scenes = list_scenes([fix.row.number for fix in ready])
    return FIX_NOTE.format(scenes=scenes, needs=needs, price=f", {price}" if price else "")


def scene_url(storyboard: Storyboard, row: SceneRow) -> str:
    return f"{reverse('storyboard', args=[storyboard.pk])}?scene={row.scene.pk}#panel"


def clip_needs(plan: ClipPlan) -> Iterator[Need]:
    if plan.is_rendered:
        return
    missing = [clip for clip in plan.choosable if not clip.is_again]
    if missing:
        noun = "1 clip is" if len(missing) == 1 else f"{len(missing)} clips are"
        yield Need("late", f"{noun} missing or changed")
    if text := plan.anew_text:
        yield Need("late", text)


def render_needs(lock: StoryboardLock) -> Iterator[Need]:
    if lock.is_render_unknown:
        yield Need("unknown", "It is not known whether the render was ordered")
    elif lock.is_rendering:
        yield Need("running", "The film is rendering")


def order_needs(
    storyboard: Storyboard, rows: Sequence[SceneRow], orders: ClipOrders, now: datetime
) -> Iterator[Need]:
    running = [row for row in rows if row.state == SceneState.GENERATING]
    if running:
        started = [orders.ordered_at(str(row.scene.pk)) for row in running]
        since = min((at for at in started if at is not None), default=None)
        elapsed = f", {duration(now - since)}" if since else ""
        is_ = "is" if len(running) == 1 else "are"
        text = f"{list_scenes([row.number for row in running])} {is_} generating{elapsed}"
        yield Need("running", text)
    if charge := orders.unknown:
        pause_reason = storyboard.account.pause_reason
        yield Need("unknown", open_charge_texts(charge, now, pause_reason).detail)
    if charge := orders.awaiting_approval:
        count = len(charge.body.get("scenes", ()))
        noun = "1 clip" if count == 1 else f"{count} clips"
        price = credits(charge.price)
        text = WAITING_TEXT.format(price=price, count=noun, who=APPROVERS_DECIDE_TEXT)
        yield Need("waiting", text)


def met_needs(storyboard: Storyboard, model: ClipModel | None) -> Iterator[Need]:
    if model is None or unoffered_settings(storyboard, model):
        return
    values = [str(value) for name in SETTING_NAMES[:2] if (value := getattr(storyboard, name))]
    if values:
        yield Need("good", f"{' and '.join(values)} {'are' if len(values) > 1 else 'is'} offered")


def money_needs(storyboard: Storyboard, plan: ClipPlan, available: Decimal) -> Iterator[Need]:
    if problem := job_token_problem(storyboard):
        yield Need("late", problem, reverse("tokens"), "Tokens")
        return
    total = plan.price_of(plan.choose(plan.default_ids)) or Decimal(0)
    check = storyboard.account.check_credits(total, available)
    if check.fits or check.is_beyond_balance:
        yield Need("good", available_credits_text(check))
    else:
        text = f"{credits(check.free)} cr free; the clips need {clip_price_text(total, plan.form)}"
        yield Need("late", text)
