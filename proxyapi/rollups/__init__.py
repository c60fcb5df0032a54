"""Totals by day and month of ledger entries, and price counts of charges."""
