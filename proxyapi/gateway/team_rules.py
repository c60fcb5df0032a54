"""What the gateway asks the site: who may do what with a key, and which limits hold.

The proxy knows no team; the setting `GATEWAY_TEAM_RULES` names the class of the site that does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from proxyapi.charges import ChargeIntent
from proxyapi.models import ApiKey, Charge, Token
from proxyapi.operations import Operation


class AdmittedCharge(NamedTuple):
    """A charge of a script; with `approval_url` it waits for a person there. `is_new` is False if
    its quote was spent on it before."""

    charge: Charge
    approval_url: str = ""
    is_new: bool = True


class LimitsPreview(NamedTuple):
    """What a charge would leave now of the narrowest limit of the key, its member and their team,
    in credits, below 0 if it does not fit; None without a limit."""

    credits_left: Decimal | None
    approval_required: bool


class TeamRules(Protocol):
    """Every method runs in a thread of its own and may query."""

    def check_access(self, key: ApiKey, operation: Operation) -> None:
        """Raise `Refusal` unless the key's owner may do this in the team now."""

    def find_token(self, key: ApiKey) -> Token:
        """The token that the key runs on, with its account. Raises `Refusal` without a usable
        one."""

    def charge(self, key: ApiKey, intent: ChargeIntent) -> AdmittedCharge:
        """Write the charge within all limits in the caller's transaction and have it sent after
        the commit, or write an approval request. Raises `Refusal`."""

    def preview(self, key: ApiKey, hold: Decimal) -> LimitsPreview:
        """What a charge that holds so many credits would meet now. Raises `Refusal`."""

    def spendable(self, key: ApiKey) -> dict[str, Decimal]:
        """What the key may still spend, in credits, by the name of each limit. Raises
        `Refusal`."""

    def approval_url(self, charge: Charge) -> str:
        """Where a person decides on the charge; empty if none is to."""

    def withdraw(self, key: ApiKey, charge: Charge) -> bool:
        """Withdraw the approval request of a charge; return whether there was one."""

    def request_items(
        self, key: ApiKey, *, items: int, credits: Decimal, hours: int, reason: str
    ) -> dict[str, Any]:
        """Ask a person for several items up to an amount, as `find_items`. Raises `Refusal`."""

    def find_items(self, key: ApiKey, id: UUID) -> dict[str, Any] | None:
        """What became of a request of the key for several items: `approval_id`, `state`,
        `is_in_force`, `items`, `items_left`, `credits`, `credits_left`, `expires_at`, and `url`
        while it waits for a person; None if there is none with this id."""

    def withdraw_items(self, key: ApiKey, id: UUID) -> None:
        """Withdraw such a request, or end it if it was approved."""

    def find_event_readers(self, keys: Collection[ApiKey]) -> dict[UUID, bool]:
        """Of these the ids of the keys whose owner may read events now: those of the whole team if
        True, else what the owner and their keys did."""

    def find_agent_key(self, value: str) -> ApiKey | None:
        """The active key of the agent that has this OAuth access token, with its tenant and owner;
        None if the token is unknown, has expired or is for another address."""

    def client_ip(self, scope: Mapping[str, Any]) -> str:
        """The address of the client of an ASGI request, behind the proxies that are trusted; empty
        if none is known. Without a query."""


@lru_cache(maxsize=1)
def team_rules() -> TeamRules:
    return cast(TeamRules, import_string(settings.GATEWAY_TEAM_RULES)())
