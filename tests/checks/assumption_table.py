"""What the specification does not show: the rows of docs/reference/assumptions.md.

Those of the records, the answers and the money; `assumption_table_jobs` has those of each kind of
job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Assumption(NamedTuple):
    """`not_shown`: what the specification leaves open; `copes`: what else the portal accepts.

    `test` is a file and a name, below tests/proxyapi, or below tests where it begins with
    `dashboard/`. `settings` are the sandbox's; `sandbox` says what it does beside them.
    """

    not_shown: str
    copes: str
    test: str
    settings: Sequence[str] = ()
    sandbox: str = ""


ACCOUNT_AREAS: Mapping[str, Sequence[Assumption]] = {
    "Status words and records": (
        Assumption(
            "Other words of `video.status` than rendering, completed and failed.",
            "An unknown word is in progress, and is shown as it came.",
            "test_polling.py::test_pitfall_7_an_unknown_word_is_in_progress",
            sandbox="draft, rendering, syncing, completed, failed; `POST /_sandbox/outcomes` "
            "makes a job go through any other words.",
        ),
        Assumption(
            "Words for a failure.",
            "Any word that says failure in plain English (sync-failed, timeout, cancelled, "
            "expired …) ends the job as failed, in every kind of job.",
            "upstream/test_status_words.py::test_plain_english_for_failure_is_a_failure",
            sandbox="failed.",
        ),
        Assumption(
            "Whether a job can stay at one word for good.",
            "A job that takes much longer than any before it, or whose word says nothing, is "
            "polled twice a minute and after an hour six times an hour; a person can have it "
            "polled at once.",
            "polling/test_stalled_jobs.py"
            "::test_it_is_polled_twice_a_minute_and_after_an_hour_six_times_an_hour",
            sandbox="Every job ends, unless an outcome's last word is another one.",
        ),
        Assumption(
            "The status before the first render.",
            "Any word or none. A status that is not known proves a render only if nothing but a "
            "render leads to the one that is seen.",
            "charges/test_reconcile.py"
            "::test_an_unknown_earlier_status_proves_a_start_only_if_nothing_else_leads_to_it",
            ("draft_status",),
        ),
        Assumption(
            "The status of a character before its training.",
            "Any word: only ready is the end.",
            "kinds/test_read_status.py::test_no_answer_makes_reading_fail_or_invents_an_end",
            ("character_draft_status",),
        ),
        Assumption(
            "Whether a record stands alone in `data` or under a name.",
            "Both.",
            "kinds/test_read_status.py"
            "::test_a_record_is_read_whether_it_stands_alone_or_under_a_name",
            sandbox="Faceless videos, storyboards, characters and clones alone, a clip as `asset`.",
        ),
        Assumption(
            "The other fields of a record.",
            "Fields that are added, missing, renamed or of another type break nothing.",
            "test_pitfalls.py::test_pitfall_97_what_was_added_to_an_answer_changes_nothing",
            sandbox="One shape for each kind, as `/_sandbox/docs` shows it.",
        ),
        Assumption(
            "Whether ids are numbers, UUIDs or slugs.",
            "All three, in a path.",
            "upstream/test_envelope.py::test_numbers_uuids_and_slugs_are_identifiers",
            ("character_path_id",),
        ),
        Assumption(
            "How images and scenes of a video are listed.",
            "`url` and `position`, or `media` and an `order` from 0.",
            "kinds/test_job_parts.py"
            "::test_assets_with_media_and_an_order_from_0_have_a_picture_and_a_place",
            ("dialect",),
            "`url` and `position`; in `service-v1` `media` and `order`.",
        ),
        Assumption(
            "Whether a completed storyboard shows its file.",
            "It is done without an address; one that is shown empty is still to come.",
            "kinds/test_read_status.py"
            "::test_a_storyboard_whose_file_the_service_does_not_show_is_done",
            sandbox="`video.url`.",
        ),
        Assumption(
            "How long the address of a file works.",
            "An address that died is read again.",
            "test_polling.py::test_a_finished_film_whose_address_died_is_read_again",
            ("media_url_seconds",),
        ),
    ),
    "Answers and refusals": (
        Assumption(
            "The status of a create call that starts no work.",
            "Any 2xx that can be read.",
            "upstream/test_envelope.py::test_a_bare_envelope_is_a_reply",
            ("create_status",),
        ),
        Assumption(
            "Whether every charging answer has `meta.credits`.",
            "Without it a free operation cost nothing, an exact price is what it cost, and the "
            "ledger settles an approximate one.",
            "charges/test_answers_without_cost.py::test_an_exact_price_is_what_it_cost",
            sandbox="Always.",
        ),
        Assumption(
            "Where a 402 has `required` and `available`.",
            "In `error`, at the top or in `data`.",
            "upstream/test_refusal.py::test_a_shortfall_is_found_wherever_it_stands",
            ("insufficient_credits_place",),
        ),
        Assumption(
            "Codes of 405, 409 and 429, and bodies of errors without a code.",
            "The status decides; without a code of the specification nothing is taken as proof "
            "that no credits were charged.",
            "upstream/test_refusal.py"
            "::test_only_an_answer_that_the_spec_lists_proves_that_nothing_was_charged",
            sandbox="Every refusal has a code; version 1 sends some without.",
        ),
        Assumption(
            "The body of the 409 of an unverified e-mail address, and which endpoints send it.",
            "A 409 without words in the account area is that.",
            "upstream/test_refusal.py"
            "::test_an_unverified_email_is_a_409_without_words_in_the_account_area",
            ("unverified_email_refuses", "unverified_email_account_area"),
        ),
        Assumption(
            "Whether the 30 requests a minute are a fixed or a sliding window, and whether "
            "refused requests count.",
            "Never more than the limit is sent in any 60 seconds, which keeps to either.",
            "test_rate_limiter.py::test_never_more_than_the_limit_in_any_sixty_seconds",
            ("rate_window", "rejected_count", "rate_seconds"),
        ),
        Assumption(
            "Whether a token's limit differs from 30 requests a minute.",
            "The limit is learned from the headers of answers.",
            "test_rate_limiter.py::test_the_limit_is_learned_from_the_headers",
            ("rate_limit",),
        ),
        Assumption(
            "How a plan refuses what it does not include.",
            "The sentence names the plan, and the account is read again.",
            "kinds/test_clip.py::test_a_withdrawn_model_has_the_account_read_again",
            ("missing_feature_closes", "models_outside_plan", "model_outside_plan", "plan_quotas"),
        ),
    ),
    "Credits and the ledger": (
        Assumption(
            "Keys of the cost map other than CONTENT_PROMPT_REQUESTED.",
            "A key that looks like one of ours (plural, case, other words) is used and shown as a "
            "guess; a price that no key has is what the operation cost last.",
            "test_pricing.py::test_a_key_that_looks_like_ours_is_a_guess",
            ("costs",),
            "Names of features; in `service-v1` those of version 1 (ai_scripts, export_videos …).",
        ),
        Assumption(
            "Whether a cost is always a number, and `credits` of the account always an object.",
            "A text is read; what is negative, absurd or no number is a price that is not known, "
            "and leaves the balance as it was.",
            "test_bad_values.py::test_a_price_that_cannot_be_is_not_known",
            sandbox="Numbers and an object.",
        ),
        Assumption(
            "How the remaining, total and extra credits relate.",
            "Extra credits count once the entries only add up with them; until then a setting "
            "decides, and what only they may pay is sent on an explicit press.",
            "ledger/test_extra_credits.py"
            "::test_a_purse_counts_once_the_entries_only_add_up_with_it",
            ("remaining_includes_extra",),
        ),
        Assumption(
            "Words of `transaction_type`, `label` and `content_type`.",
            "A debit is recognized by its sign. The words only rank rows of the same amount.",
            "ledger/test_matching.py::test_a_label_that_its_kind_never_has_comes_last",
            ("debit_type",),
        ),
        Assumption(
            "Whether `label` names what was done or each single video.",
            "The ledger filters by content type; the search finds labels, however many there are.",
            "dashboard/ledger/test_search.py::test_labels_are_found_however_many_there_are",
            ("dialect",),
        ),
        Assumption(
            "Which entry of the ledger is the debit of which request: entries have no id.",
            "Amount and time, with a confidence. A member can remove such a match, and it is "
            "not made again; what the service itself reported of a request stays.",
            "charges/test_reconcile_by_debit.py"
            "::test_a_match_that_a_person_took_back_is_not_made_again",
            sandbox="No id either.",
        ),
        Assumption(
            "Whether the entries' times and the Date header are by a clock that is right.",
            "Windows are widened by the difference from the portal's clock. One of more than 30 s "
            "is reported, of the answers and of the entries.",
            "charges/test_clock_offset.py"
            "::test_the_times_of_the_ledger_are_compared_with_those_of_an_answered_charge",
            sandbox="Its own clock, which `PUT /_sandbox/clock` moves.",
        ),
        Assumption(
            "How the ledger words a refund.",
            "A credit of the amount of a charge, after its debit, that says refund anywhere or has "
            "the content type of the debit.",
            "ledger/test_refunds.py"
            "::test_a_refund_is_of_the_booked_amount_where_another_price_was_reported",
            ("refund_type", "clip_refund_seconds"),
        ),
        Assumption(
            "How the ledger words a top-up.",
            "A credit whose label says top-up and not refund.",
            "top_up/test_inferred_state.py::test_an_entry_is_a_top_up_by_its_own_words",
            ("top_up_type",),
        ),
        Assumption(
            "Whether a failed faceless render or training is refunded.",
            "None is expected; one that comes is proposed as the refund of its charge.",
            "ledger/test_refunds.py"
            "::test_a_credit_that_gives_back_and_fits_is_proposed_whatever_is_documented",
            ("failed_render_refunds", "failed_training_refunds"),
        ),
        Assumption(
            "Rows without a time, an amount or their fields.",
            "Such a row keeps its place and its words, and says what cannot be read.",
            "ledger/test_strange_rows.py::test_a_strange_row_keeps_its_words_and_its_place",
            sandbox="Every row is whole.",
        ),
        Assumption(
            "The order of rows of one second.",
            "Any order, and another one at each reading.",
            "ledger/test_unordered_seconds.py::test_rows_of_one_second_are_mirrored_once_each_in_whatever_order_they_are_shown",
            sandbox="That of their booking; in `service-v1` another one at each reading.",
        ),
        Assumption(
            "Which other rows a ledger has, whether rows appear late or change, and whether the "
            "balance moves without a row.",
            "Any of them: no charge is booked twice, and ledger and balance are called a match "
            "only if the rows add up to it.",
            "ledger/test_unknown_ledgers.py"
            "::test_no_ledger_breaks_the_reading_or_is_called_a_match_that_it_is_not",
            sandbox="Debits, refunds and top-ups in the order of their booking.",
        ),
        Assumption(
            "Whether `source=api` shows a new row at once.",
            "A row that the view does not show yet is attributed when it does.",
            "ledger/test_late_view.py"
            "::test_a_new_row_that_it_does_not_show_is_attributed_when_it_does",
            sandbox="At once.",
        ),
        Assumption(
            "Whether enabling the top-up below its threshold charges at once, and how a payment "
            "that fails is shown.",
            "The state is inferred from the preference's counter and from ledger rows.",
            "top_up/test_inferred_state.py"
            "::test_pitfall_81_it_rests_a_day_after_the_failure_that_was_seen",
            ("top_up_on_enabling", "top_up_charge", "credit_packs"),
        ),
    ),
}
