"""Reconciliation of charges and ledger. Other areas link by URL name; `shared.ledger_agreement` has
the summary in one sentence."""

from __future__ import annotations
