"""The ledger's pages and its CSV file. Other areas link to it with filters as parameters."""

from __future__ import annotations
