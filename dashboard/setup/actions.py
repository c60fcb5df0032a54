"""Create the set-up code and the first owner, connect the service, complete the set-up."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.instance.teams import create_team
from dashboard.models import (
    SETUP_ROW_ID,
    AuditAction,
    InstallationSetup,
    Membership,
    Role,
    User,
)
from dashboard.shared.audit_log import record_audit_event
from dashboard.tokens.actions import add_member_token
from proxyapi import tasks
from proxyapi.models import Account, Token
from proxyapi.refusals import Refusal, StaleData
from proxyapi.upstream.secret import Secret

# Without characters that are easily mistaken for another: 32 of them, so 40 bits in a code.
CODE_CHARACTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_GROUPS, CODE_GROUP_CHARS = 2, 4
SANDBOX_CREDITS = 12_000
ALREADY_SET_UP = "This installation is set up already."
WRONG_CODE = (
    "This is not the newest set-up code, or it is older than a day. The server’s log has it; "
    "manage.py create_setup_code prints a new one."
)
SANDBOX_SILENT = "The sandbox does not answer. Nothing was stored. Try again."


@dataclass(frozen=True, slots=True)
class FirstOwner:
    """What the first owner entered, without the password."""

    code: str
    team: str
    time_zone: str
    name: str
    email: str


@transaction.atomic
def create_setup_code() -> str:
    """Return a new code, which ends the one before. Raises `StaleData` if a user exists."""
    row = lock_setup()
    if is_set_up(row):
        raise StaleData(ALREADY_SET_UP)
    characters = [secrets.choice(CODE_CHARACTERS) for _ in range(CODE_GROUPS * CODE_GROUP_CHARS)]
    groups = zip(*[iter(characters)] * CODE_GROUP_CHARS, strict=True)
    code = "-".join("".join(group) for group in groups)
    row.set_code(code)
    row.save(update_fields=["code_hash", "code_made_at"])
    return code


@transaction.atomic
def create_first_owner(entered: FirstOwner, password: str) -> Membership:
    """Create the owner, who is also the operator of the installation, with their team.

    Raises `Refusal` for a wrong code, `StaleData` if somebody else was first.
    """
    row = lock_setup()
    if is_set_up(row):
        raise StaleData(ALREADY_SET_UP)
    if not row.accepts_code(entered.code):
        raise Refusal(WRONG_CODE, field="code")
    team = create_team(entered.team, entered.time_zone)
    user = User.objects.create_user(entered.email, password, name=entered.name, is_superuser=True)
    membership = Membership.objects.create(team=team, user=user, role=Role.OWNER)
    row.owner, row.owner_created_at, row.code_hash = user, timezone.now(), ""
    row.save(update_fields=["owner", "owner_created_at", "code_hash"])
    after = {"name": team.name, "owner": user.email, "operator": True}
    record_audit_event(membership, AuditAction.TEAM_CREATE, team.pk, after=after)
    return membership


def lock_setup() -> InstallationSetup:
    """Return the locked row; the first call creates it."""
    InstallationSetup.objects.bulk_create(
        [InstallationSetup(pk=SETUP_ROW_ID, code_made_at=timezone.now())], ignore_conflicts=True
    )
    return InstallationSetup.objects.select_for_update().get(pk=SETUP_ROW_ID)


def is_set_up(row: InstallationSetup) -> bool:
    return row.owner_created_at is not None or User.objects.exists()


def connect_sandbox(*, by: Membership) -> Token:
    """Create an account at the sandbox and add a token of it. Raises `Refusal`."""
    account = {
        "name": by.team.name,
        "email": by.user.email,
        "monthly_credits": SANDBOX_CREDITS,
    }
    try:
        created = SandboxAdmin(settings.VIDEO_API_BASE_URL).create_account(account)
    except OSError:
        raise Refusal(SANDBOX_SILENT, field="token") from None
    return add_member_token(by=by, pasted=Secret(created["token"]))


def request_account_check(*, by: Membership) -> None:
    """Have a worker read the profile of the accounts that the owner connected."""
    accounts = Account.objects.of_current_upstream().filter(tenant=by.team.tenant_id)
    for account_id in accounts.values_list("pk", flat=True):
        tasks.enqueue_task_after_commit(tasks.refresh_account_task, account_id)


def complete_setup(setup: InstallationSetup) -> None:
    incomplete = InstallationSetup.objects.filter(pk=setup.pk, completed_at=None)
    incomplete.update(completed_at=timezone.now())
