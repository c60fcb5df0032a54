"""The page of the set-up: which step is open, what the steps before it left."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from dashboard import __version__
from dashboard.models import SETUP_ROW_ID, InstallationSetup, Membership, User
from dashboard.shared.formatting import clock, credits
from dashboard.tokens.queries import account_plan_text
from proxyapi.models import Account, AccountPlan

OWNER_STEP, SERVICE_STEP, TEAM_STEP = STEPS = ("owner", "service", "team")
REQUESTS_PER_MINUTE = 30
TRIAL_TEXT = (
    "{plan}. The service renders nothing for a trial through its API. You may go on: videos can be "
    "drafted, and rendered once the plan is paid."
)
NO_PLAN_TEXT = (
    "The account has no active plan, so the service renders nothing for it. You may go on: it is "
    "asked again every two minutes."
)
UNCONFIRMED_TEXT = (
    "The service has not confirmed {email} yet. Follow the link in the mail that it sent; until "
    "then it refuses to render. You may go on."
)


@dataclass(frozen=True, slots=True)
class ConnectedAccount:
    """What the service said of the first token. `state`: good, or late if it cannot render yet."""

    name: str
    state: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SetupPage:
    """`owner` is empty before the first step; `step` is the open one."""

    step: str
    owner: str
    owner_email: str
    team: str
    account: ConnectedAccount | None
    service_address: str
    is_sandbox: bool
    sends_mail: bool
    version: str

    @property
    def is_owner_open(self) -> bool:
        return self.step == OWNER_STEP

    @property
    def is_service_open(self) -> bool:
        return self.step == SERVICE_STEP

    @property
    def is_team_open(self) -> bool:
        return self.step == TEAM_STEP


def find_open_setup(user: User) -> InstallationSetup | None:
    """Return the set-up that this user began and has not completed."""
    setups = InstallationSetup.objects.filter(pk=SETUP_ROW_ID, owner=user, completed_at=None)
    return setups.first()


def build_setup_page(owner: Membership | None, step: str = "") -> SetupPage:
    """Without an owner the first step is open. Else `step`, or the one that is next. One query."""
    account = find_first_account(owner) if owner else None
    if owner is None:
        step = OWNER_STEP
    elif step not in STEPS:
        step = SERVICE_STEP
    return SetupPage(
        step=step,
        owner=str(owner.user) if owner else "",
        owner_email=owner.user.email if owner else "",
        team=owner.team.name if owner else "",
        account=build_connected_account(account) if account else None,
        service_address=settings.VIDEO_API_BASE_URL,
        is_sandbox=settings.VIDEO_API_IS_SANDBOX,
        sends_mail=settings.PASSWORD_RESET_BY_EMAIL,
        version=__version__,
    )


def find_first_account(owner: Membership) -> Account | None:
    accounts = Account.objects.of_current_upstream().filter(tenant=owner.team.tenant_id)
    return accounts.filter(tokens__owner=owner.user_id).order_by("created_at").first()


def build_connected_account(account: Account) -> ConnectedAccount:
    title = f"Connected to {account.label}."
    plan = account_plan_text(account)
    state, text = "late", ""
    if not account.email_verified:
        text = UNCONFIRMED_TEXT.format(email=account.email or "the account’s address")
    elif account.plan == AccountPlan.TRIAL:
        text = TRIAL_TEXT.format(plan=plan)
    elif account.plan == AccountPlan.NONE:
        text = NO_PLAN_TEXT
    else:
        state, text = "good", f"{account.email}, {plan}. {balance_text(account)}"
    checked = f" Checked at {clock(account.balance_as_of)}." if account.balance_as_of else ""
    return ConnectedAccount(account.label, state, title, text + checked)


def balance_text(account: Account) -> str:
    left, monthly = credits(account.balance), credits(account.monthly_credits or Decimal(0))
    return f"{left} cr of {monthly} left, {REQUESTS_PER_MINUTE} requests a minute."
