"""The studio's first page: what a new video starts with, the types and what they cost this team."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.text import capfirst

from dashboard.models import Budget, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.budget_impact import budget_left_text
from dashboard.shared.budget_usage import load_budget_usages, most_constrained
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import FLOWS, Flow
from dashboard.studio.queries.defaults import (
    FORMAT_FIELD,
    StartChoices,
    load_start_settings,
    load_start_token,
)
from dashboard.studio.queries.notices import DraftNotice, account_notice
from dashboard.studio.queries.past_costs import (
    PastCost,
    PastCosts,
    expected_render_cost,
    load_past_costs,
)
from dashboard.studio.queries.scene_films import SceneFilmCard, load_scene_film_cards
from dashboard.studio.queries.script import script_length, spoken_duration_text
from dashboard.studio.queries.start_text import StartKind, StartText, start_length_note
from proxyapi import pricing
from proxyapi.models import Account, Token, TokenState
from proxyapi.models.duration_class import WORDS_PER_SECOND
from proxyapi.refusals import format_credits

COMPARED_LENGTH_S = 60
# The part of a type's still that is shown in a narrow card, as an SVG view box: no words are cut.
PHONE_CROPS = {
    "ai-visuals": "305,10,180,270",
    "ai-clips": "200,40,200,300",
    "b-roll": "190,0,230,345",
    "url-based": "436,30,190,300",
}
OTHER_LABELS = {
    StartKind.TOPIC: "Use it as the topic",
    StartKind.SCRIPT: "Use it as the script",
    StartKind.LINK: "Use the link alone",
}
MIN_COST_WITHOUT_HISTORY = Decimal(1)
NO_TOKEN = DraftNotice(
    "paused",
    "Add your API token to make videos.",
    "What you make runs on your own token. It is checked, encrypted and never shown again.",
    add_token=True,
)
TOKEN_STOPPED = DraftNotice(
    "failed",
    "Your token stopped working.",
    "The service no longer accepts it. Drafts are kept. Add a new token to create videos.",
    add_token=True,
)


@dataclass(frozen=True, slots=True)
class StartAccount:
    """The account that a new draft of the reader is made on, as far as there is one.

    `disabled_reason`: why no draft can be started now; empty if one can.
    """

    account: Account | None
    options: FacelessOptions
    notice: DraftNotice | None
    disabled_reason: str


@dataclass(frozen=True, slots=True)
class QuickStart:
    """How the text of the field is read, what follows, and what it will cost about, in credits."""

    kind: StartKind
    other: StartKind | None
    is_empty: bool
    length_note: str
    words: int  # of a written script
    script_price: Decimal | None
    render_cost: Decimal | None

    @property
    def other_label(self) -> str:
        return OTHER_LABELS[self.other] if self.other else ""

    @property
    def signature(self) -> str:
        """Return what the sentence about the reading depends on: an unchanged one is not announced
        again."""
        parts = (self.kind, self.other, self.is_empty, self.words, self.script_price)
        return "-".join(map(str, parts))


@dataclass(frozen=True, slots=True)
class FlowCard:
    """A video type; `needs` such as "script, voice, genre"."""

    flow: Flow
    still: str
    phone_crop: str
    past_cost: PastCost | None
    is_rendered_otherwise: bool  # with another engine
    is_refused: bool

    @property
    def needs(self) -> str:
        return ", ".join(dict.fromkeys(need.noun for need in self.flow.preconditions))

    @property
    def cost_note(self) -> str:
        """Return a text such as `for 60 s, your last 14: 88 to 104`."""
        past = self.past_cost
        if past is None and self.is_rendered_otherwise:
            return "Not rendered with your engine yet. You see the price before you render."
        if past is None:
            return "First of its kind here. You see the price before you render."
        low, high = format_credits(past.low), format_credits(past.high)
        span = low if low == high else f"{low} to {high}"
        length = spoken_duration_text(past.length_s)
        count = len(past.costs)
        return f"for {length}, your last {count}: {span}" if count > 1 else f"for {length}, once"


@dataclass(frozen=True, slots=True)
class StudioHome:
    may_start: bool
    role_note: str
    start: StartAccount
    choices: StartChoices
    costs: PastCosts
    settings: Mapping[str, dict[str, Any]]  # that decide the price of a new draft, by type
    plan_name: str
    flows: tuple[FlowCard, ...]
    budget_notice: DraftNotice | None
    scene_films: tuple[SceneFilmCard, ...]


def load_studio_home(reader: Membership) -> StudioHome:
    """Up to eight queries, two of them for the reader's budgets."""
    may_start = has_permission(reader, Permission.RENDER)
    token, choices = load_start_token(reader)
    start, costs = build_start_account(token), load_past_costs(reader.team.tenant)
    # What a draft of a type starts with matters only where it decides between known prices.
    compared = {choices.type, *(type_ for type_, *_ in costs.by_class)}
    ratio = {FORMAT_FIELD: choices.aspect_ratio} if choices.aspect_ratio else {}
    settings = {
        flow.type: load_start_settings(reader, start.account, start.options, flow, ratio)
        if flow.type in compared
        else {"type": flow.type}
        for flow in FLOWS.values()
    }
    typical = expected_render_cost(costs, settings[choices.type], choices.duration, start.options)
    return StudioHome(
        may_start=may_start,
        role_note=f"Your role is {reader.get_role_display()}. An owner or admin can change it.",
        start=start,
        choices=choices,
        costs=costs,
        settings=settings,
        plan_name=start.account.plan_name if start.account else "",
        flows=tuple(build_flow_card(flow, costs, settings[flow.type]) for flow in FLOWS.values()),
        budget_notice=load_budget_notice(reader, typical),
        scene_films=load_scene_film_cards(reader.team.tenant),
    )


def build_start_account(token: Token | None) -> StartAccount:
    if token is None:
        return StartAccount(None, FacelessOptions({}), NO_TOKEN, "Add your token first.")
    account, options = token.account, account_options(token.account)
    if token.state == TokenState.REVOKED:
        return StartAccount(account, options, TOKEN_STOPPED, "Add a new token first.")
    if account.pause_reason:
        paused = DraftNotice("paused", "Your token is paused.", account.pause_reason, True)
        return StartAccount(account, options, paused, "Your token is paused.")
    return StartAccount(account, options, account_notice(account), "")


def build_flow_card(flow: Flow, costs: PastCosts, settings: dict[str, Any]) -> FlowCard:
    return FlowCard(
        flow=flow,
        still=f"stills/flow-{flow.type}.svg",
        phone_crop=PHONE_CROPS.get(flow.type, ""),
        past_cost=costs.best_known(settings, COMPARED_LENGTH_S),
        is_rendered_otherwise=any(type_ == flow.type for type_, *_ in costs.by_class),
        is_refused=flow.type in costs.refused_types,
    )


def build_quick_start(
    start: StartText, duration: int, settings: dict[str, Any], home: StudioHome
) -> QuickStart:
    """`duration`: of a script that is to be written, in seconds; `settings` as the draft will have
    them."""
    is_script = start.kind == StartKind.SCRIPT
    seconds = script_length(start.text).seconds if is_script else duration
    account = home.start.account
    return QuickStart(
        kind=start.kind,
        other=start.other,
        is_empty=not start.text,
        length_note=start_length_note(start),
        words=round(duration * WORDS_PER_SECOND),
        script_price=pricing.script_credits(account) if account else None,
        render_cost=expected_render_cost(home.costs, settings, seconds, home.start.options),
    )


def load_budget_notice(reader: Membership, typical_cost: Decimal | None) -> DraftNotice | None:
    """Return a banner if the reader's tightest budget has less left than a video usually costs."""
    budgets = Budget.objects.applying_to(reader.team_id, reader.user_id).exclude(hard=None)
    usage = most_constrained(load_budget_usages(reader.team, budgets, timezone.now()))
    if usage is None or usage.has_room_for(typical_cost or MIN_COST_WITHOUT_HISTORY):
        return None
    left = format_credits(usage.remaining or Decimal(0))
    needs = "A render" if usage.allows_no_charges else f"A render above {left} cr"
    return DraftNotice(
        "late",
        f"{capfirst(budget_left_text(usage))}.",
        f"Drafts stay free. {needs} needs more budget: you can ask for it when you render.",
    )
