"""Charges: `admit` creates a charge; it is held, claimed, sent at most once, and settled by its
answer or by reconciliation."""

from __future__ import annotations

from proxyapi.charges.admission import (
    Admission,
    ChargeIntent,
    admit,
    approve_draft_charge,
    cancel_held_charge,
    cancel_held_charges,
    check_hold_fits,
    find_submitted_charge,
    withdraw_draft_charge,
)
from proxyapi.charges.charge_stop import charge_stop_sentence, check_charges_allowed
from proxyapi.charges.dispatch import dispatch_charge
from proxyapi.charges.late_debits import charges_with_late_debit
from proxyapi.charges.manual_settlement import (
    find_match_obstacle,
    remove_match,
    settle_with_entry,
    write_off_charge,
)
from proxyapi.charges.reconcile import reconcile_charge, reconcile_now
