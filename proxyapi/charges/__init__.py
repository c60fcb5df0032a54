"""The money core: a charge is recorded and held, claimed, sent at most once, settled or read
back."""

from __future__ import annotations

from proxyapi.charges.record import Intent, record, sent_before
from proxyapi.charges.send import send
from proxyapi.charges.settle import settle

__all__ = ["Intent", "record", "send", "sent_before", "settle"]
