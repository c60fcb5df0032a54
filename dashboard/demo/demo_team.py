"""The demo: the team Northlight with six people, and its accounts in the sandbox.

Passwords and tokens are random per installation and are only in `var/demo.json`. The tokens in it
are not added to the portal, so that a visitor can add one.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction

from dashboard import private_file
from dashboard.alerts import default_rules
from dashboard.demo.history import build as history
from dashboard.demo.history.audit import append_past_rows
from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.models import Membership, Role, Team, User
from dashboard.shared.audit_log import collect_audit_rows
from dashboard.tokens.actions import add_member_token
from proxyapi.models import Tenant
from proxyapi.upstream.secret import Secret

DEMO_TEAM_NAME = "Northlight"
DEMO_EMAIL_DOMAIN = "northlight.example"


class DemoPerson(NamedTuple):
    name: str
    role: Role
    has_token: bool  # for the shared account

    @property
    def email(self) -> str:
        return f"{self.name.split()[0].lower()}@{DEMO_EMAIL_DOMAIN}"


DEMO_PEOPLE = (
    DemoPerson("Mira Sandvik", Role.OWNER, has_token=True),
    DemoPerson("Jonas Weber", Role.ADMIN, has_token=False),
    DemoPerson("Thea Lindqvist", Role.TREASURER, has_token=False),
    DemoPerson("Priya Raman", Role.PRODUCER, has_token=True),
    DemoPerson("Luca Moretti", Role.PRODUCER, has_token=True),
    DemoPerson("Vera Costa", Role.VIEWER, has_token=False),
)
TOKEN_OWNERS = [person.name.split()[0] for person in DEMO_PEOPLE if person.has_token]
SHARED_ACCOUNT = {
    "name": "Northlight Studio",
    "email": f"studio@{DEMO_EMAIL_DOMAIN}",
    "monthly_credits": 12_000,
}
SPARE_ACCOUNT = {
    "name": "Northlight Shorts",
    "email": f"shorts@{DEMO_EMAIL_DOMAIN}",
    "monthly_credits": 4_000,
}
TRIAL_ACCOUNT = {
    "name": "Northlight Trial",
    "email": f"trial@{DEMO_EMAIL_DOMAIN}",
    "subscription": "trial",
    "plan": "Studio trial",
    "monthly_credits": 100,
}


class DemoPassword(NamedTuple):
    plain: str
    hashed: str


@dataclass(frozen=True, slots=True)
class DemoParts:
    """What the demo consists of besides rows of the database."""

    passwords: list[DemoPassword]  # of `DEMO_PEOPLE`, in their order
    past: history.PastReplay | None
    accounts: list[dict[str, Any]]  # the shared one, then the spare ones; each with its token
    tokens: list[str]  # of the shared account, in the order of `TOKEN_OWNERS`


def make_demo_parts(sandbox: SandboxAdmin, *, with_past: bool) -> DemoParts:
    """Hash the passwords, wait for the sandbox, and make the accounts there.

    It needs no database, so `manage.py prepare` does it while one is migrated. Without a past the
    team has an unused account. What the sandbox made for a start that was killed stays there
    unused. Raises `OSError` if the sandbox does not answer.
    """
    passwords = [make_demo_password() for _ in DEMO_PEOPLE]
    sandbox.wait_until_ready()
    past = None
    if with_past:
        zone = ZoneInfo(settings.TIME_ZONE)
        past = history.replay_past(sandbox, SHARED_ACCOUNT, TOKEN_OWNERS, zone)
    shared = past.account.account if past else sandbox.create_account(SHARED_ACCOUNT)
    tokens = past.account.tokens if past else [sandbox.create_token(shared) for _ in TOKEN_OWNERS]
    spare_accounts = [sandbox.create_account(fields) for fields in (SPARE_ACCOUNT, TRIAL_ACCOUNT)]
    return DemoParts(passwords, past, [shared, *spare_accounts], tokens)


def make_demo_password() -> DemoPassword:
    plain = secrets.token_urlsafe(12)
    return DemoPassword(plain, make_password(plain))


@transaction.atomic
def store_demo(portal: str, sandbox: SandboxAdmin, parts: DemoParts) -> Path:
    """Create the demo in one transaction and return the path of the file with the sign-ins.

    Raises `Refusal` if the sandbox rejects a token, `OSError` if it does not answer, and what
    `store_past` raises.
    """
    team = Team.objects.create(
        name=DEMO_TEAM_NAME, tenant=Tenant.objects.create(time_zone=settings.TIME_ZONE)
    )
    default_rules.create_default_rules(team)
    people = [
        add_demo_member(team, person, password)
        for person, password in zip(DEMO_PEOPLE, parts.passwords, strict=True)
    ]
    owners = [
        membership
        for membership, person in zip(team.memberships.all(), DEMO_PEOPLE, strict=True)
        if person.has_token
    ]
    with collect_audit_rows() as recorded:
        stored = [
            add_member_token(by=membership, pasted=Secret(token))
            for membership, token in zip(owners, parts.tokens, strict=True)
        ]
        if parts.past:
            history.store_past(team, parts.past, stored)
    append_past_rows(team, recorded)
    demo_data = {
        "portal": portal,
        "sandbox": sandbox.address,
        "people": people,
        "accounts": [
            {"email": account["email"], "token": account["token"]} for account in parts.accounts
        ],
    }
    return write_demo_file(settings.VAR / "demo.json", demo_data)


def add_demo_member(team: Team, person: DemoPerson, password: DemoPassword) -> dict[str, str]:
    # As at /setup/, the first owner operates the installation.
    is_operator = person.role is Role.OWNER
    user = User.objects.create(
        email=person.email, password=password.hashed, name=person.name, is_superuser=is_operator
    )
    Membership.objects.create(team=team, user=user, role=person.role)
    sign_in = {"name": person.name, "email": person.email, "password": password.plain}
    return {**sign_in, "role": person.role.value}


def update_demo_addresses(portal: str, sandbox: str) -> None:
    """Update the addresses in the file: another start may use other ports."""
    path = settings.VAR / "demo.json"
    if path.is_file():
        demo_data = json.loads(path.read_text())
        if (demo_data["portal"], demo_data["sandbox"]) != (portal, sandbox):
            write_demo_file(path, {**demo_data, "portal": portal, "sandbox": sandbox})


def write_demo_file(path: Path, demo_data: dict[str, Any]) -> Path:
    """Write the only copy of the passwords."""
    return private_file.write_private_file(path, json.dumps(demo_data, indent=2))
