"""Clips and storyboards on the studio's first page, with what they cost this team."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from statistics import median_low
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from proxyapi.kinds import CREATE_CLIP_OPERATION
from proxyapi.models import Charge, JobKind, JobState, StoryboardCopy, Tenant
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.refusals import format_credits

MAX_READ_CHARGES, MAX_COMPARED_FILMS = 300, 40
FIRST_TEXT = "First of its kind here. You see the price before anything is charged."


@dataclass(frozen=True, slots=True)
class SceneFilmCard:
    """`costs` are those of the team's last ones, in credits, the newest first."""

    name: str
    url: str
    note: str
    needs: str
    still: str
    phone_crop: str
    costs: tuple[Decimal, ...]

    @property
    def median(self) -> Decimal | None:
        return median_low(self.costs) if self.costs else None

    @property
    def cost_note(self) -> str:
        """Return a text such as `your last 6: 10 to 40`."""
        if not self.costs:
            return FIRST_TEXT
        low, high = format_credits(min(self.costs)), format_credits(max(self.costs))
        if len(self.costs) == 1:
            return "your last one"
        return f"your last {len(self.costs)}: {low if low == high else f'{low} to {high}'}"


def load_scene_film_cards(tenant: Tenant) -> tuple[SceneFilmCard, ...]:
    """One query, for the team's last 300 charges of clips and storyboards."""
    clips, storyboards = load_scene_film_costs(tenant)
    return (
        SceneFilmCard(
            name="Clip from a prompt",
            url=reverse("clips"),
            note="One short clip from a description, no narration.",
            needs="a prompt of 5 words or more",
            still="stills/flow-prompt.svg",
            phone_crop="400,0,150,232",
            costs=clips[:MAX_COMPARED_FILMS],
        ),
        SceneFilmCard(
            name="Storyboard",
            url=reverse("new-storyboard"),
            note="Scenes that you order, chain and render as one video.",
            needs="a description, or your own scenes",
            still="stills/flow-storyboard.svg",
            phone_crop="24,36,190,290",
            costs=storyboards[:MAX_COMPARED_FILMS],
        ),
    )


def load_scene_film_costs(tenant: Tenant) -> tuple[tuple[Decimal, ...], tuple[Decimal, ...]]:
    """Return what the last clips cost, and what each storyboard with a film cost in all: scenes,
    clips and renders."""
    storyboard = "job__storyboard_copy__storyboard"
    films = StoryboardCopy.objects.filter(
        storyboard=OuterRef(storyboard), job__state=JobState.COMPLETED
    )
    charges = Charge.objects.filter(
        Q(operation=CREATE_CLIP_OPERATION) | Q(Exists(films), job__kind=JobKind.STORYBOARD),
        tenant=tenant,
        state__in=CHARGED_STATES,
        cost__gt=0,
    )
    rows = charges.order_by("-settled_at", "-created_at").values_list(storyboard, "cost")
    clips: list[Decimal] = []
    sums: dict[UUID, Decimal] = defaultdict(Decimal)
    for storyboard_id, cost in rows[:MAX_READ_CHARGES]:
        if storyboard_id is None:
            clips.append(cost or Decimal(0))
        else:
            sums[storyboard_id] += cost or Decimal(0)
    return tuple(clips), tuple(sums.values())
