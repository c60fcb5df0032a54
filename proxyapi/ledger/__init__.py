"""The upstream's credit ledger: mirrored by position, matched to charges, compared with the balance
(rule 4)."""

from __future__ import annotations

from proxyapi.ledger.balance_checkpoint import rebase_balance, take_checkpoint
from proxyapi.ledger.conflicts import (
    OpenConflicts,
    accept_all_upstream_versions,
    accept_upstream_version,
    count_open_conflicts,
)
from proxyapi.ledger.lost_charge_lookup import (
    MirrorCoverage,
    find_charge_debit,
    find_late_debit,
    find_proving_debit,
    has_possible_debit,
    is_still_covered,
    link_late_debit,
    link_settling_debit,
    mirror_charge_period,
)
from proxyapi.ledger.matching import (
    link_entry_to_charge,
    match_entries,
    unlink_entry,
)
from proxyapi.ledger.mirror import mirror_entries
from proxyapi.ledger.sync_schedule import (
    MESSAGE_LIFETIME_S,
    accounts_due_for_sync,
    accounts_to_enqueue,
    forget_message,
    read_ledgers_of_viewed_teams,
    sync_account,
)
