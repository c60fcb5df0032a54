"""Create charges for members, within the budgets that apply to them.

The team's row, then the budgets in the order of their ids, are locked before the account
(`proxyapi.charges.admit`), so there is no deadlock, no two charges spend the same last credit of a
budget or an account, and none passes a second-person rule that is being changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import AgentApproval, ApprovalRequest, AuditAction, Budget, Membership
from dashboard.shared import enqueue
from dashboard.shared.approvals import record_approval_event
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.budget_usage import (
    ApprovalRequired,
    BudgetExceeded,
    BudgetUsage,
    load_budget_usages,
    other_approver_names,
)
from dashboard.shared.charge_stop import check_person_may_charge
from dashboard.shared.key_limits import (
    ALLOWANCE,
    CHARGE_LIMIT,
    KeyLimitExceeded,
    find_used_up,
    load_agent_approvals,
    load_key_limits,
)
from dashboard.shared.second_person import (
    SECOND_PERSON_KEY,
    SecondPersonRequired,
    lock_second_person_rule,
    second_person_limits,
)
from dashboard.shared.text_validation import clean_line
from proxyapi import pricing, tasks
from proxyapi.charges import (
    ChargeIntent,
    admit,
    check_charges_allowed,
    check_hold_fits,
    find_submitted_charge,
)
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, ApiEventType, ApiKey, Charge, Job, JobState, Token, Upload
from proxyapi.models.account import amount_text
from proxyapi.refusals import (
    AgentCreditsUsedUp,
    AlreadyInProgress,
    ChargesStopped,
    LimitExceeded,
    NotEnoughCredits,
    NotReady,
    Refusal,
    SpendingLimit,
    StaleData,
    format_credits,
)

NOTHING_BESIDE = Decimal(0)
# What ends by itself, or by a top-up, a new month or a person.
CREDITS_MISSING = (NotEnoughCredits, BudgetExceeded, ChargesStopped)
COVERED_LIMITS = (ALLOWANCE, CHARGE_LIMIT)
ALREADY_SENT = "This was already sent. Nothing was sent twice."
PRICE_MISSING = "There is no current price. Get a price first. Nothing was sent."
VOICE_WITHDRAWN = "The consent to the voice of this video was withdrawn. Nothing was sent."
PRICE_CHANGED = "Not sent. The price was {seen} cr and is {now} cr now"


class ConfirmAnswer(NamedTuple):
    """How a person answered: with a `note`, even an empty one, approval is requested instead; with
    `beyond_balance` it is sent although only extra credits may pay it."""

    note: str | None = None
    beyond_balance: bool = False


CONFIRMED = ConfirmAnswer()


def submit_charge(
    by: Membership,
    target: Job | Token,
    operation: str,
    nonce: UUID,
    quote: Callable[[], Decimal],
    *,
    body: dict[str, object] | None = None,
    path: dict[str, str] | None = None,
    uploads: tuple[Upload, ...] = (),
    answer: ConfirmAnswer = CONFIRMED,
    beside: Decimal = NOTHING_BESIDE,
    key: ApiKey | None = None,
) -> Charge:
    """Create the charge that a form submits; if its answer has a note, even an empty one,
    request approval instead. `path`, `body` and `uploads` are as in `ChargeIntent`, `beside` as in
    `request_approval`. `key` is that of the script that lets it be sent.

    `target` is the job, or the token of an operation that has none. `quote` returns the price in
    credits and raises `Refusal` if nothing can be sent in the current state. A form that is
    submitted twice gets the charge it already created.
    """
    try:
        price = quote()
    except Refusal:
        if submitted := find_submitted_charge(target, operation, nonce, body or {}, path or {}):
            return submitted
        raise
    hold = pricing.hold_for_operation(operation, price)
    job, token = (target, None) if isinstance(target, Job) else (None, target)
    intent = ChargeIntent(
        *(job, operation, nonce, hold, price, body or {}, token),
        path=path or {},
        uploads=uploads,
        beyond_balance=answer.beyond_balance,
        api_key=key,
    )
    if answer.note is None:
        return charge_within_budget(by, intent)
    return request_approval(by, intent, answer.note, beside).charge


@transaction.atomic
def charge_within_budget(by: Membership, intent: ChargeIntent) -> Charge:
    """Write the charge and its audit row, and enqueue the send once both are committed.

    Raises `BudgetExceeded` if the hold exceeds a hard limit, `SecondPersonRequired` if it is above
    what one person may charge, `AgentCreditsUsedUp`, else what `admit` raises. A form that is
    submitted twice gets the charge it already created, even if nothing is left.
    """
    rules, approval = lock_spending_rules(by, intent.api_key, intent.job).covered(intent.hold)
    try:
        charge, is_new = admit(intent, by.user_id, rules.limits)
    except LimitExceeded as error:
        raise rules.approval_required(by, intent.hold, error.limit.key) from error
    if is_new:
        if approval is not None:
            approval.items.create(charge=charge)
        after = {
            "operation": intent.operation,
            "hold": str(intent.hold),
            "job": str(intent.job.pk if intent.job else ""),
        }
        record_audit_event(by, AuditAction.CHARGE_CREATE, charge.pk, after=after)
        tasks.enqueue_task_after_commit(tasks.dispatch_charge_task, charge.pk)
        enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return charge


@dataclass(frozen=True, slots=True)
class SpendingRules:
    """What limits a member's charges: the usage of their budgets, the amount in credits above which
    a charge needs a second person, what the limits of their script's key leave, and the
    approvals of several items that it has."""

    usages: list[BudgetUsage]
    second_person_above: Decimal | None
    key_limits: tuple[SpendingLimit, ...] = ()
    approvals: Sequence[AgentApproval] = ()
    payer: int | None = None

    @property
    def limits(self) -> list[SpendingLimit]:
        """The credits that the hard limits and the rule leave, as values for `proxyapi`."""
        budgets = [
            SpendingLimit(str(usage.budget.pk), usage.hard - usage.used)
            for usage in self.usages
            if usage.hard is not None
        ]
        return [*budgets, *second_person_limits(self.second_person_above), *self.key_limits]

    def covered(self, hold: Decimal) -> tuple[SpendingRules, AgentApproval | None]:
        """The rules of a charge that an approval of several items covers, with the approval; these
        rules and None if they need none, or none fits. Who approves an item of their own lifts no
        second-person rule."""
        above = self.second_person_above
        needs_second = above is not None and hold > above
        of_key = [limit for limit in self.key_limits if limit.key in COVERED_LIMITS]
        if not needs_second and all(hold <= limit.remaining for limit in of_key):
            return self, None
        for approval in self.approvals:
            is_second = approval.decided_by_id != self.payer
            if approval.covers(hold) and (is_second or not needs_second):
                rest = tuple(limit for limit in self.key_limits if limit not in of_key)
                above = None if is_second else above
                return replace(self, key_limits=rest, second_person_above=above), approval
        return self, None

    def check_key(self, by: Membership, hold: Decimal) -> None:
        """Raise the refusal of the first limit of the script's key that `hold` exceeds."""
        for limit in self.key_limits:
            if hold > limit.remaining:
                raise self.approval_required(by, hold, limit.key)

    def approval_required(
        self, by: Membership, hold: Decimal, key: str
    ) -> ApprovalRequired | AgentCreditsUsedUp:
        """Return the refusal for the limit with this key, which `hold` exceeds; for an allowance
        that is used up nobody is asked, whatever else is exceeded."""
        if used_up := find_used_up(self.key_limits, hold):
            return used_up
        approvers = other_approver_names(by)
        if key == SECOND_PERSON_KEY and self.second_person_above is not None:
            return SecondPersonRequired(hold, self.second_person_above, approvers)
        for limit in self.key_limits:
            if limit.key == key:
                return KeyLimitExceeded(hold, limit, approvers)
        exceeded = next(usage for usage in self.usages if str(usage.budget.pk) == key)
        return BudgetExceeded(hold, exceeded, approvers)


def lock_spending_rules(
    by: Membership, key: ApiKey | None = None, job: Job | None = None
) -> SpendingRules:
    """Return the rules that apply to this member, to the key of their script with its label, and to
    the labels of the job, locked until the transaction ends. Raises `PersonPaused` if the charges
    of the member are paused."""
    above = lock_second_person_rule(by.team_id)
    check_person_may_charge(by)
    applying = Budget.objects.applying_to(
        by.team_id, by.user_id, job.pk if job else None, key.job_label if key else ""
    )
    budgets = list(applying.select_for_update())
    locked = ApiKey.objects.select_for_update(no_key=True).get(pk=key.pk) if key else None
    # The clock is read after the lock: a wait over midnight counts in the new day.
    now = timezone.now()
    limits = load_key_limits(by.team, locked, now) if locked else ()
    approvals = load_agent_approvals(locked, now) if locked else ()
    usages = load_budget_usages(by.team, budgets, now)
    return SpendingRules(usages, above, limits, approvals, by.user_id)


def check_room_for(
    by: Membership,
    account_id: UUID,
    amount: Decimal,
    job: Job | None = None,
    key: ApiKey | None = None,
) -> None:
    """Raise `Refusal` unless the charges of the member are allowed, and their budgets, the limits
    of the `key` that charges and the credits carry `amount` credits now. What it looks at is locked
    until the transaction ends; the second-person rule is for what is charged at once."""
    rules, _ = lock_spending_rules(by, key, job).covered(amount)
    rules.check_key(by, amount)
    for usage in rules.usages:
        if not usage.has_room_for(amount):
            raise rules.approval_required(by, amount, str(usage.budget.pk))
    account = Account.objects.get_locked(account_id)
    check_charges_allowed(by.team.tenant_id)
    check_hold_fits(account, amount)


def credits_allow(
    by: Membership, account_id: UUID, amount: Decimal, job: Job | None = None
) -> bool:
    """Whether budgets and credits carry `amount` credits now. Other obstacles raise `Refusal`."""
    try:
        with transaction.atomic():
            check_room_for(by, account_id, amount, job)
    except CREDITS_MISSING:
        return False
    return True


@transaction.atomic
def request_approval(
    by: Membership, intent: ChargeIntent, words: str = "", beside: Decimal = NOTHING_BESIDE
) -> ApprovalRequest:
    """Create a draft charge that a budget or the second-person rule refuses, and an approval
    request for it, at this price.

    `beside` is what charges requested with it would hold, in credits: together they exceed a limit.
    Raises `StaleData` if the charge now fits all limits, else what `admit` raises.
    """
    rules = lock_spending_rules(by, intent.api_key, intent.job)
    limits = [limit._replace(remaining=limit.remaining - beside) for limit in rules.limits]
    charge, is_new = admit(intent, by.user_id, limits, needs_approval=True)
    if not is_new:
        return existing_approval_request(charge)
    note = clean_line(words, max_length=300, field="note")
    above = rules.second_person_above
    exceeded_rule = above if above is not None and charge.hold + beside > above else None
    request = ApprovalRequest.objects.create(
        team=by.team,
        charge=charge,
        member=by.user,
        note=note,
        second_person_above=exceeded_rule,
    )
    after = {"charge": str(charge.pk), "hold": str(charge.hold), "note": note}
    if exceeded_rule is not None:
        after["second_person_above"] = amount_text(exceeded_rule)
    record_audit_event(by, AuditAction.APPROVAL_REQUEST_CREATE, request.pk, after=after)
    record_approval_event(request, ApiEventType.APPROVAL_REQUESTED)
    publish_event(charge.tenant_id, EventType.BUDGET, request.pk)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return request


def existing_approval_request(charge: Charge) -> ApprovalRequest:
    request = ApprovalRequest.objects.filter(charge=charge).first()
    if request is None:
        raise AlreadyInProgress(ALREADY_SENT)
    return request


def require_job_state(job: Job, state: JobState, sentence: str) -> None:
    if job.state != state:
        raise NotReady(sentence)


def require_voice_consent(job: Job) -> None:
    """Raise `NotReady` if the consent to its voice was withdrawn: the service would still use
    it."""
    if str(job.chosen_settings.get("voice_id")) in job.account.withdrawn_voice_ids:
        raise NotReady(VOICE_WITHDRAWN)


def require_shown_price(seen: Decimal, now: Decimal, why: str = ".") -> None:
    """Raise `StaleData`, with the current price, if it differs from the price that was shown."""
    if seen != now:
        raise StaleData(
            PRICE_CHANGED.format(seen=format_credits(seen), now=format_credits(now)) + why
        )
