"""Views of the ledger's pages and of its export."""

from __future__ import annotations
