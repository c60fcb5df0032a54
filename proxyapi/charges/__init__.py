"""The money core: a charge is recorded and held, claimed, sent at most once, settled or read
back."""

from __future__ import annotations

from proxyapi.charges.decision import claim_entry, write_off
from proxyapi.charges.late import debited_late
from proxyapi.charges.record import Intent, ask, cancel, record, release, sent_before, withdraw
from proxyapi.charges.send import send
from proxyapi.charges.settle import again, settle

__all__ = [
    "Intent",
    "again",
    "ask",
    "cancel",
    "claim_entry",
    "debited_late",
    "record",
    "release",
    "send",
    "sent_before",
    "settle",
    "withdraw",
    "write_off",
]
