"""The demo: the team Northlight, six people, and accounts in the sandbox that they work with.

Passwords and tokens are random for each installation and stand in `var/demo.json` alone. The tokens
there are not in the portal yet, so that somebody can try adding one.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction

from dashboard import private_file
from dashboard.actions.tokens import add_token
from dashboard.alerting import rules
from dashboard.control import Control
from dashboard.models import Membership, Role, Team, User
from proxyapi.models import Vault
from proxyapi.upstream.secret import Secret

TEAM = "Northlight"
DOMAIN = "northlight.example"


class Person(NamedTuple):
    name: str
    role: Role
    keeps_token: bool  # of the shared account

    @property
    def email(self) -> str:
        return f"{self.name.split()[0].lower()}@{DOMAIN}"


PEOPLE = (
    Person("Mira Sandvik", Role.OWNER, keeps_token=True),
    Person("Jonas Weber", Role.ADMIN, keeps_token=False),
    Person("Thea Lindqvist", Role.TREASURER, keeps_token=False),
    Person("Priya Raman", Role.PRODUCER, keeps_token=True),
    Person("Luca Moretti", Role.PRODUCER, keeps_token=True),
    Person("Vera Costa", Role.VIEWER, keeps_token=False),
)
SHARED = {"name": "Northlight Studio", "email": f"studio@{DOMAIN}", "monthly_credits": 12_000}
SPARE = {"name": "Northlight Shorts", "email": f"shorts@{DOMAIN}", "monthly_credits": 4_000}
TRIAL = {
    "name": "Northlight Trial",
    "email": f"trial@{DOMAIN}",
    "subscription": "trial",
    "plan": "Studio trial",
    "monthly_credits": 100,
}


def make(portal: str, control: Control) -> Path:
    """Make it all or nothing, and answer the file that says how to sign in.

    Raises `Refusal` when the sandbox does not take a token, `OSError` when it does not answer.
    """
    shared, spare, trial = (control.open_account(account) for account in (SHARED, SPARE, TRIAL))
    with transaction.atomic():
        team = Team.objects.create(
            name=TEAM, vault=Vault.objects.create(time_zone=settings.TIME_ZONE)
        )
        rules.give_usual(team)
        people = [join(team, person) for person in PEOPLE]
        for membership, person in zip(team.memberships.all(), PEOPLE, strict=True):
            if person.keeps_token:
                add_token(by=membership, pasted=Secret(control.another_token(shared)))
        written = {
            "portal": portal,
            "sandbox": control.address,
            "people": people,
            "accounts": [
                {"email": account["email"], "token": account["token"]}
                for account in (shared, spare, trial)
            ],
        }
        return write(settings.VAR / "demo.json", written)


def join(team: Team, person: Person) -> dict[str, str]:
    password = secrets.token_urlsafe(12)
    user = User.objects.create_user(person.email, password, name=person.name)
    Membership.objects.create(team=team, user=user, role=person.role)
    signs_in = {"name": person.name, "email": person.email, "password": password}
    return {**signs_in, "role": person.role.value}


def move(portal: str, sandbox: str) -> None:
    """Another start may have other ports: keep the addresses in the file true."""
    path = settings.VAR / "demo.json"
    if path.is_file():
        written = json.loads(path.read_text())
        if (written["portal"], written["sandbox"]) != (portal, sandbox):
            write(path, {**written, "portal": portal, "sandbox": sandbox})


def write(path: Path, written: dict[str, Any]) -> Path:
    """The passwords stand nowhere else."""
    return private_file.write(path, json.dumps(written, indent=2))
