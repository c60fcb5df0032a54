"""The ledger pages and the CSV export. Other areas link to them with filters as URL parameters."""

from __future__ import annotations
