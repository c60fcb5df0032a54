"""The operations page: everything at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard import __version__
from dashboard.models import Membership
from dashboard.operations.queries.encryption_keys import EncryptionKeys, load_encryption_keys
from dashboard.operations.queries.known_delay import KnownDelay, load_known_delay
from dashboard.operations.queries.open_items import OpenItem, load_open_items
from dashboard.operations.queries.processes import ProcessState, load_processes
from dashboard.operations.queries.request_use import RequestUse, load_request_use
from dashboard.operations.queries.rotation_status import RotationStatus, load_rotation_status
from dashboard.operations.queries.service_day import ServiceDay, load_service_day
from dashboard.operations.queries.token_hygiene import (
    TokenHygieneRow,
    build_hygiene_rows,
    load_tokens,
)
from dashboard.operations.queries.unsettled_credits import UnsettledCredits, load_unsettled_credits


@dataclass(frozen=True, slots=True)
class OperationsPage:
    note: str
    url: str
    read_at: datetime
    money: UnsettledCredits
    items: tuple[OpenItem, ...]
    requests: RequestUse
    service: ServiceDay
    delay: KnownDelay
    processes: tuple[ProcessState, ...]
    tokens: tuple[TokenHygieneRow, ...]
    accounts: int
    keys: EncryptionKeys
    rotation: RotationStatus
    version: str
    service_address: str
    is_stopped: bool

    @property
    def stop_label(self) -> str:
        return "Allow charges" if self.is_stopped else "Stop all charges"

    @property
    def stop_url(self) -> str:
        return reverse("charge-resumptions" if self.is_stopped else "charge-stops")

    @property
    def stop_icon(self) -> str:
        return "play" if self.is_stopped else "hand-raised"


def build_operations_page(reader: Membership) -> OperationsPage:
    """Seventeen queries, however many tokens and charges there are."""
    team, now = reader.team, timezone.now()
    money, tokens = load_unsettled_credits(team, now), load_tokens(team.tenant)
    items, processes = load_open_items(reader, money, tokens, now), load_processes()
    return OperationsPage(
        note=page_note(processes, len(items)),
        url=f"{reverse('operations')}?part=body",
        read_at=now,
        money=money,
        items=items,
        requests=load_request_use(team.tenant, tokens, now),
        service=load_service_day(team.tenant, now),
        delay=load_known_delay(team.tenant, now),
        processes=processes,
        tokens=build_hygiene_rows(tokens, reader, now),
        accounts=len({token.account_id for token in tokens}),
        keys=load_encryption_keys(team, tokens),
        rotation=load_rotation_status(reader),
        version=__version__,
        service_address=settings.VIDEO_API_BASE_URL.partition("://")[2],
        is_stopped=team.tenant.charges_stopped_at is not None,
    )


def page_note(processes: tuple[ProcessState, ...], open_items: int) -> str:
    broken = [process.name for process in processes if process.state != "completed"]
    runs = f"Not everything runs: {', '.join(broken)}." if broken else "Everything runs."
    if not open_items:
        return f"{runs} Nothing needs attention."
    things = "One thing needs" if open_items == 1 else f"{open_items} things need"
    return f"{runs} {things} attention."
