"""The first steps of a member: of the team for who manages members, of their own for a producer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from dashboard.models import InvitationState, Membership, Team
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock
from dashboard.shared.roles import Permission
from proxyapi.models import Account, Job, JobState, Token

FIRST_VIDEO_TEXT = (
    "Start with a topic, a web page or your own script. You see the price before anything is "
    "charged."
)
OWN_TOKEN_TEXT = "Your videos are made with your own token. It is encrypted and never shown again."  # noqa: S105  # a sentence
NO_ACCOUNT_TEXT = "A token opens an account of the service. Its credits pay for the videos."
MANY_INVITED_TEXT = "{count} invitations are open, nobody has joined yet."
ONE_INVITED_TEXT = "One invitation is open, nobody has joined yet."
NOBODY_INVITED_TEXT = "Colleagues see every video and what it cost."


@dataclass(frozen=True, slots=True)
class StepLink:
    """`kind` and `icon` are those of a button; a done step has a plain link."""

    label: str
    url: str
    kind: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class FirstStep:
    title: str
    text: str
    is_done: bool
    links: tuple[StepLink, ...]
    credits: Decimal | None = None  # to spend, after the text


@dataclass(frozen=True, slots=True)
class GettingStarted:
    steps: tuple[FirstStep, ...]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def percent_done(self) -> float:
        return 100 * self.done / len(self.steps)

    @property
    def rows(self) -> Iterator[tuple[int, FirstStep, bool]]:
        """Yield number and step, and whether it is the next one."""
        next_step = next((step for step in self.steps if not step.is_done), None)
        for number, step in enumerate(self.steps, 1):
            yield number, step, step is next_step


def load_getting_started(
    reader: Membership, accounts: tuple[Account, ...]
) -> GettingStarted | None:
    """Return None if the reader hid it, has done everything, or has no steps: at most one query."""
    if reader.getting_started_hidden_at or not has_permission(reader, Permission.RENDER):
        return None
    manages = has_permission(reader, Permission.MANAGE_MEMBERS)
    steps = manager_steps(reader, accounts) if manages else producer_steps(reader)
    started = GettingStarted(steps)
    return started if started.done < len(steps) else None


def manager_steps(reader: Membership, accounts: tuple[Account, ...]) -> tuple[FirstStep, ...]:
    pending = Q(invitations__state=InvitationState.PENDING)
    team = Team.objects.annotate(
        has_video=Exists(started_jobs().filter(tenant=OuterRef("tenant"))),
        members=Count("memberships", distinct=True),
        invited=Count("invitations", filter=pending, distinct=True),
    ).get(pk=reader.team_id)
    invited = MANY_INVITED_TEXT.format(count=team.invited) if team.invited > 1 else ONE_INVITED_TEXT
    invite_links = (
        StepLink("Invite people", reverse("invitations")),
        StepLink("Set a budget", reverse("budgets"), "quiet"),
    )
    return (
        connect_step(accounts),
        first_video_step(team.has_video),
        FirstStep(
            "Invite your team",
            f"{invited if team.invited else NOBODY_INVITED_TEXT} Set a budget before they render.",
            team.members > 1,
            (StepLink("See the members", reverse("members")),)
            if team.members > 1
            else invite_links,
        ),
    )


def connect_step(accounts: tuple[Account, ...]) -> FirstStep:
    title, tokens = "Connect the service", reverse("tokens")
    if not accounts:
        add = StepLink("Add a token", tokens, "primary", "key")
        return FirstStep(title, NO_ACCOUNT_TEXT, False, (add,))
    first = accounts[0]
    checked = f", checked at {clock(first.balance_as_of)}" if first.balance_as_of else ""
    text = f"{first.label}{checked}."
    return FirstStep(title, text, True, (StepLink("See the account", tokens),), first.balance)


def first_video_step(is_done: bool) -> FirstStep:
    link = StepLink("New video", reverse("studio"), "primary", "plus")
    done = StepLink("Open the library", reverse("library"))
    return FirstStep(
        "Make your first video", FIRST_VIDEO_TEXT, is_done, (done if is_done else link,)
    )


def producer_steps(reader: Membership) -> tuple[FirstStep, ...]:
    own = started_jobs().filter(tenant=reader.team.tenant_id, member=reader.user_id)
    tokens = Token.objects.not_removed().filter(tenant=reader.team.tenant_id, owner=reader.user_id)
    found = Team.objects.annotate(
        has_token=Exists(tokens),
        has_video=Exists(own),
        has_film=Exists(own.filter(state=JobState.COMPLETED)),
    ).get(pk=reader.team_id)
    tokens_url, library_url = reverse("tokens"), reverse("library")
    add = (
        StepLink("See your token", tokens_url)
        if found.has_token
        else StepLink("Add your token", tokens_url, "primary", "key")
    )
    return (
        FirstStep("Add your token", OWN_TOKEN_TEXT, found.has_token, (add,)),
        first_video_step(found.has_video),
        FirstStep(
            "Watch it render",
            "The library shows each render live, and says when it is finished.",
            found.has_film,
            (StepLink("Open the library", library_url),),
        ),
    )


def started_jobs() -> QuerySet[Job]:
    """Return the videos that were rendered, or are being rendered."""
    return Job.objects.visible().videos().exclude(state=JobState.DRAFT)
