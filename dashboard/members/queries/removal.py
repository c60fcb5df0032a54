"""What a member leaves behind, line by line, and who could go on with it: for the dialogs that
remove a member or hand work over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet, Sum
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, BudgetPeriod, Membership
from dashboard.shared.budget_usage import load_month_spend
from dashboard.shared.formatting import credits, join_names
from dashboard.shared.member_token import token_owner_ids
from proxyapi.credentials import token_vault
from proxyapi.models import ApiKey, Charge, ChargeState, Job, JobState, Token
from proxyapi.models.charge import UNDECIDED_STATES

PERIOD_PHRASES = {
    BudgetPeriod.DAY: "a day",
    BudgetPeriod.WEEK: "a week",
    BudgetPeriod.MONTH: "a month",
}
RENDERS_FIELD, DRAFTS_FIELD = "renders", "drafts"


@dataclass(frozen=True, slots=True)
class SuccessorChoice:
    """A colleague with a usable token of an account that the member's tokens open."""

    user_id: int
    name: str
    first_name: str


@dataclass(frozen=True, slots=True)
class WorkLine:
    """One kind of thing that is left behind. `field` names the choice of who gets it; without one,
    `fate` says what becomes of it. `possible` are credits of charges with an unknown outcome."""

    label: str
    note: str
    fate: str = ""
    field: str = ""
    code: str = ""
    possible: Decimal | None = None


@dataclass(frozen=True, slots=True)
class LeftWork:
    lines: tuple[WorkLine, ...]
    successors: tuple[SuccessorChoice, ...]
    spent: Decimal
    has_other_team: bool


@dataclass(frozen=True, slots=True)
class WorkCounts:
    renders: int
    drafts: int
    keys: int
    agents: int


def load_left_work(member: Membership) -> LeftWork:
    """About ten queries."""
    tokens = list(member_tokens(member).select_related("account"))
    others = Membership.with_deactivated.filter(user=member.user_id)
    colleagues = load_colleague_tokens(member, tokens)
    successors = tuple(successor_choices(colleagues))
    lines = (
        *token_lines(tokens, colleagues),
        *key_lines(member),
        *job_lines(member, has_successors=bool(successors)),
        *charge_lines(member),
        *budget_lines(member),
    )
    return LeftWork(
        lines=lines,
        successors=successors,
        spent=load_month_spend(member.team, timezone.now()).get(member.user_id, Decimal(0)),
        has_other_team=others.exclude(pk=member.pk).exists(),
    )


def member_tokens(member: Membership) -> QuerySet[Token]:
    tokens = Token.objects.not_removed().filter(tenant=member.team.tenant_id)
    return tokens.filter(owner=member.user_id).order_by("created_at")


def count_movable_work(member: Membership) -> WorkCounts:
    """Return the running renders and the drafts of the member's tokens, and their API keys."""
    jobs = Job.objects.filter(tenant=member.team.tenant_id, token__owner=member.user_id)
    drafts = jobs.visible().filter(state=JobState.DRAFT)
    running = jobs.filter(state=JobState.RUNNING)
    return WorkCounts(
        running.count(), drafts.count(), count_active_keys(member), count_active_agents(member)
    )


def load_colleague_tokens(member: Membership, tokens: list[Token]) -> list[Token]:
    """Return usable tokens of colleagues for the same accounts, and for those of removed tokens
    with work left."""
    accounts = {token.account_id for token in tokens}
    jobs = Job.objects.filter(tenant=member.team.tenant_id, token__owner=member.user_id)
    jobs = jobs.filter(state__in=(JobState.DRAFT, JobState.RUNNING)).order_by()
    accounts |= set(jobs.values_list("account_id", flat=True).distinct())
    usable = Token.objects.usable().filter(tenant=member.team.tenant_id, account__in=accounts)
    usable = usable.filter(owner__in=token_owner_ids(member.team)).exclude(owner=member.user_id)
    usable = usable.select_related("owner", "account").best_first()
    return [token for token in usable if token_vault.can_decrypt(token)]


def successor_choices(colleagues: list[Token]) -> Iterator[SuccessorChoice]:
    """Each colleague once, the one with the best token first."""
    owners = {token.owner_id: token.owner for token in colleagues}
    for owner in owners.values():
        yield SuccessorChoice(owner.pk, str(owner), owner.first_name)


def token_lines(tokens: list[Token], colleagues: list[Token]) -> Iterator[WorkLine]:
    for token in tokens:
        names = dict.fromkeys(
            other.owner.first_name for other in colleagues if other.account_id == token.account_id
        )
        note = (
            f"{join_names(list(names))} {'open' if len(names) > 1 else 'opens'} the same account, "
            "so its balance and ledger stay up to date."
            if names
            else "Nobody else opens this account. Reelroom will not see its renders again."
        )
        yield WorkLine("Token", note, "Deleted here", code=f"…{token.last_four}")


def key_lines(member: Membership) -> Iterator[WorkLine]:
    if count := count_active_keys(member):
        note = f"Scripts that use {'it' if count == 1 else 'them'} are refused at once."
        yield WorkLine(plural(count, "API key"), note, "Revoked")
    if count := count_active_agents(member):
        note = f"What {'it asks' if count == 1 else 'they ask'} for is refused at once."
        yield WorkLine(plural(count, "agent"), note, "Ended")


def count_active_keys(member: Membership) -> int:
    return active_keys(member).filter(client_id="").count()


def count_active_agents(member: Membership) -> int:
    return active_keys(member).exclude(client_id="").count()


def active_keys(member: Membership) -> QuerySet[ApiKey]:
    keys = ApiKey.objects.active(timezone.now()).filter(tenant=member.team.tenant_id)
    return keys.filter(owner=member.user_id)


def job_lines(member: Membership, *, has_successors: bool) -> Iterator[WorkLine]:
    counts = count_movable_work(member)
    if counts.renders:
        label = plural(counts.renders, "running render")
        note = "The service finishes what was paid for."
        if has_successors:
            yield WorkLine(label, note, field=RENDERS_FIELD)
        else:
            yield WorkLine(label, note, "Not watched any more")
    if counts.drafts:
        label = plural(counts.drafts, "draft")
        if has_successors:
            yield WorkLine(label, "They need a token of the same account.", field=DRAFTS_FIELD)
        else:
            yield WorkLine(label, "Nobody else opens their account.", "Stay, without a token")


def charge_lines(member: Membership) -> Iterator[WorkLine]:
    charges = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user_id)
    if held := charges.filter(state=ChargeState.HELD).count():
        yield WorkLine(f"{plural(held, 'charge')} not sent", "Nothing was charged.", "Cancelled")
    requests = ApprovalRequest.objects.pending().filter(team=member.team_id, member=member.user_id)
    if count := requests.count():
        yield WorkLine(plural(count, "approval request"), "Nothing was sent.", "Withdrawn")
    unknown = charges.filter(state__in=UNDECIDED_STATES)
    if count := unknown.count():
        possible = unknown.aggregate(sum=Sum("hold"))["sum"]
        note = "The ledger decides, whoever is here. Nobody else gets it."
        label = plural(count, "unknown charge")
        yield WorkLine(label, note, "Stays in Reconciliation", possible=possible)


def budget_lines(member: Membership) -> Iterator[WorkLine]:
    for budget in Budget.objects.filter(team=member.team_id, member=member.user_id, active=True):
        limit = credits(budget.hard if budget.hard is not None else budget.soft)
        label = f"Budget, {limit} cr {PERIOD_PHRASES[BudgetPeriod(budget.period)]}"
        yield WorkLine(label, "", "Ends")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
