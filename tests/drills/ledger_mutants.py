"""Faults in the ledger: how the view of API spend is aligned, how a lost charge finds its debit."""

from __future__ import annotations

from collections.abc import Mapping

from tests.drills.mutation import Mutant

VIEW_PAGES = "proxyapi/ledger/api_view_pages.py"
VIEW_ALIGNMENT = "proxyapi/ledger/api_view_alignment.py"
VIEW_SYNC = "proxyapi/ledger/api_view_sync.py"
ROW_ORDER = "proxyapi/ledger/row_order.py"
LOOKUP = "proxyapi/ledger/lost_charge_lookup.py"
UNORDERED = "proxyapi/ledger/test_unordered_seconds.py"
LATE_VIEW = "proxyapi/ledger/test_late_view.py"
VIEW = "proxyapi/ledger/test_api_view_sync.py"
BY_DEBIT = "proxyapi/charges/test_reconcile_by_debit.py"
SHARED = "proxyapi/charges/test_shared_debits.py"
LATE_DEBITS = "proxyapi/charges/test_late_debits.py"
AMBIGUOUS = "proxyapi/ledger/test_ambiguous_debits.py"
OTHERS = "proxyapi/ledger/test_debits_of_others.py"
LOST = "proxyapi/ledger/test_lost_among_unknown_rows.py"

VIEW_OF_API_SPEND: Mapping[str, Mutant] = {
    "a second that the end of a view page cuts is aligned": Mutant(
        VIEW_PAGES,
        "    if not is_cut(ledger, page.rows[::-1]):\n        return page.end\n",
        "    if True:\n        return page.end\n",
        f"{UNORDERED}::test_a_second_that_the_edge_of_a_view_page_cuts_is_aligned_whole",
    ),
    "a second that the begin of a view page cuts is aligned": Mutant(
        VIEW_PAGES,
        "    if not is_cut(ledger, page.rows):\n        return page.start\n",
        "    if True:\n        return page.start\n",
        f"{UNORDERED}::test_a_second_that_the_edge_of_a_view_page_cuts_is_aligned_whole",
    ),
    "rows that are not mirrored yet are aligned": Mutant(
        VIEW_PAGES,
        "    return last[0] + 1 if last else page.start\n",
        "    return page.start\n",
        f"{UNORDERED}::test_a_row_that_is_not_mirrored_yet_is_not_taken_for_an_equal_one_of_"
        "its_second",
    ),
    "no wider page of the view is read upwards": Mutant(
        VIEW_PAGES,
        "        return wider if wider.end > known else None\n",
        "        return None\n",
        f"{UNORDERED}::test_a_new_row_that_takes_the_place_of_an_aligned_one_on_the_page_"
        "before_is_aligned",
    ),
    "no wider page of the view is read downwards": Mutant(
        VIEW_PAGES,
        "wider if is_cut else None, API_SOURCE)",
        "None, API_SOURCE)",
        f"{UNORDERED}::test_a_second_that_the_edge_of_a_view_page_cuts_is_aligned_whole",
    ),
    "the last second of the view is not read whole": Mutant(
        VIEW_PAGES,
        "    wider = page_until(page.total) if shows_none_whole else None\n",
        "    wider = None\n",
        f"{UNORDERED}::test_aligned_rows_that_change_places_at_the_edge_of_a_view_page_are_"
        "not_aligned_again",
    ),
    "a row that changed places begins the alignment anew": Mutant(
        VIEW_PAGES,
        "    return is_first or (page.end < page.total and page.second_at(page.end - 1) == "
        "second)\n",
        "    return False\n",
        f"{UNORDERED}::test_aligned_rows_that_change_places_at_the_edge_of_a_view_page_are_"
        "not_aligned_again",
    ),
    "a view that lags is believed at once": Mutant(
        VIEW_ALIGNMENT,
        "    return entries.filter(happened_at__lte=page.requested_at - api_view_lag())\n",
        "    return entries\n",
        f"{LATE_VIEW}::test_a_new_row_that_it_does_not_show_is_attributed_when_it_does",
    ),
    "a view whose rows changed is kept": Mutant(
        VIEW_ALIGNMENT,
        "    else:\n        reset_attribution(ledger)\n    ledger.save(update_fields=API_"
        "VIEW_FIELDS)\n",
        "    ledger.save(update_fields=API_VIEW_FIELDS)\n",
        f"{VIEW}::test_a_view_that_changed_meanwhile_is_aligned_again",
    ),
    "rows searched in vain are not of the API": Mutant(
        VIEW_ALIGNMENT,
        "            break  # the entries searched",
        "            skipped += searched\n            break  # the entries searched",
        f"{VIEW}::test_a_view_that_does_not_fit_is_said_and_left_for_a_while",
    ),
    "a row that appears in the view late is not corrected": Mutant(
        VIEW_ALIGNMENT,
        "Q(via_api__isnull=True) | may_be_corrected\n",
        "Q(via_api__isnull=True)\n",
        f"{LATE_VIEW}::test_after_half_a_minute_it_is_believed_and_then_still_corrected",
    ),
    "older rows are not of the API before the view was read": Mutant(
        VIEW_ALIGNMENT,
        "    if ledger.api_low > 0 or lowest is None:\n",
        "    if lowest is None:\n",
        f"{VIEW}::test_rows_of_both_kinds_are_distinguished",
    ),
    "nobody looks for a debit that the view lacks": Mutant(
        VIEW_SYNC,
        "    return unknown.exists() or may_have_missed_debit(ledger)\n",
        "    return unknown.exists()\n",
        f"{LATE_VIEW}::test_a_debit_of_ours_is_asked_for_until_it_is_shown_though_no_other_"
        "row_comes",
    ),
    "a view that cannot be read is asked again at once": Mutant(
        VIEW_SYNC,
        "        suspend_alignment(source.account, API_VIEW_UNAVAILABLE)\n",
        "        pass\n",
        "proxyapi/ledger/test_view_retries.py::test_a_view_that_is_refused_once_is_gone_on_with",
    ),
    "rows of one second have the order of the page": Mutant(
        ROW_ORDER,
        "        if any(entry_raw_values(known[at]) != second[at - start].raw_values for at "
        "in known):\n",
        "        if False:\n",
        f"{UNORDERED}::test_known_rows_that_change_places_across_two_pages_are_no_conflict",
    ),
    "a changed row is taken for one that changed places": Mutant(
        ROW_ORDER,
        "    return found\n",
        "    return left[:]\n",
        f"{UNORDERED}::test_a_row_that_changed_at_the_edge_of_two_pages_is_a_conflict",
    ),
    "the view's ties are in the order of the page": Mutant(
        ROW_ORDER,
        "    if not tied:\n        return page\n",
        "    if tied is not None:\n        return page\n",
        f"{UNORDERED}::test_a_second_that_the_edge_of_a_view_page_cuts_is_aligned_whole",
    ),
}
LOST_CHARGES: Mapping[str, Mutant] = {
    "a debit reserved for another charge proves this one": Mutant(
        LOOKUP,
        "        if entry.pk not in reserved_ids\n        and is_booked_after_sending(entry, "
        "charge)\n        and",
        "        if is_booked_after_sending(entry, charge)\n        and",
        f"{SHARED}::test_the_debit_of_a_charge_that_was_answered_settles_no_other_teams",
    ),
    "one debit proves two lost charges": Mutant(
        LOOKUP,
        "        if len(fitting) > count_rival_charges(charge, fitting)\n",
        "        if fitting\n",
        f"{AMBIGUOUS}::test_what_another_lost_charge_may_have_taken_too_is_neithers",
    ),
    "outside spending proves a lost charge": Mutant(
        LOOKUP,
        "    if not charge.is_proved_by_debit or is_spent_by_others(charge, reserved_ids):\n",
        "    if not charge.is_proved_by_debit:\n",
        f"{BY_DEBIT}::test_amount_and_time_are_no_proof_where_somebody_else_spends_on_the_account",
    ),
    "a debit proves what the resource of a charge has to prove": Mutant(
        LOOKUP,
        "    if not charge.is_proved_by_debit or is_spent_by_others(charge, reserved_ids):\n",
        "    if is_spent_by_others(charge, reserved_ids):\n",
        f"{LOST}::test_a_debit_alone_proves_only_what_its_resource_cannot_prove",
    ),
    "a charge is called uncharged while the mirror is stopped": Mutant(
        LOOKUP,
        "    if mirror_range.get_or_create_ledger(charge.account).problem:\n        return True\n",
        "",
        f"{LOST}::test_nothing_is_called_uncharged_while_the_mirror_is_stopped",
    ),
    "a charge is called uncharged while a debit has no attribution": Mutant(
        LOOKUP,
        "    rows = debits_in_charge_period(charge, since).exclude(via_api=False)\n",
        "    rows = debits_in_charge_period(charge, since).filter(via_api=True)\n",
        f"{LOST}::test_a_row_of_the_time_may_be_the_debit_until_it_is_known_not_to_be_of_the_api",
    ),
    "a debit of a charge on its way settles another": Mutant(
        LOOKUP,
        "    return None if entry and count_rival_charges(charge, [entry], "
        "ChargeState.SENDING) else entry\n",
        "    return entry\n",
        f"{BY_DEBIT}::test_a_debit_that_what_is_sent_just_now_may_have_made_waits_for_that_"
        "ones_answer",
    ),
    "a late debit is taken from a rival": Mutant(
        LOOKUP,
        "    return None if entry and count_rival_charges(charge, [entry]) else entry\n",
        "    return entry\n",
        f"{LATE_DEBITS}::test_of_two_presses_that_were_both_paid_both_debits_have_their_charge",
    ),
    "charges of other teams are no rivals": Mutant(
        LOOKUP,
        "    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)\n    rivals",
        "    of_all_teams = Charge.objects.filter(account_id=charge.account_id)\n    rivals",
        f"{SHARED}::test_one_debit_settles_neither_of_two_lost_charges_that_may_both_have_made_it",
    ),
    "a debit before the sending proves the charge": Mutant(
        LOOKUP,
        "    ) and not is_upstream_clock_behind(charge):\n",
        "    ) and False:\n",
        f"{BY_DEBIT}::test_a_debit_from_before_the_sending_neither_proves_nor_clears_a_retry",
    ),
    "a refusal takes a debit of hours later": Mutant(
        LOOKUP,
        "    late = MAX_BOOKING_DELAY if charge.lost_at else MATCH_BOOKING_DELAY\n",
        "    late = MAX_BOOKING_DELAY\n",
        f"{LATE_DEBITS}::test_what_the_service_refused_itself_is_offered_a_debit_of_the_next_"
        "two_minutes",
    ),
    "an outside debit beside a refusal is the charge's": Mutant(
        LOOKUP,
        "    if not (is_done or charge.lost_at) and is_spent_by_others(charge, reserved_"
        "ids):\n        return None\n",
        "",
        f"{OTHERS}::test_a_debit_beside_a_refusal_is_left_to_who_else_spends_on_the_account",
    ),
    "another team's debits count as ours": Mutant(
        "proxyapi/models/ledger_entry.py",
        "Q(charge__isnull=True) & Q(Exists(charged_elsewhere)) & Q(is_one_of_them),",
        "Q(charge__isnull=True) & Q(Exists(charged_elsewhere)),",
        f"{OTHERS}::test_of_two_equal_rows_as_many_are_another_teams_as_it_has_charges_for",
    ),
}
