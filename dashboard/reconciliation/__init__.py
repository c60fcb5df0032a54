"""Reconciliation of charges and ledger. Other areas link by URL name; the agreement in one sentence
is `shared.ledger_agreement`."""

from __future__ import annotations
