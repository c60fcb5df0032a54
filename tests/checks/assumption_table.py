"""What the specification does not show: the rows of docs/reference/assumptions.md."""

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


AREAS: Mapping[str, Sequence[Assumption]] = {
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
            "decides, and a refusal names them.",
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
            "ledger/test_wrong_pages.py::test_rows_of_one_second_may_come_in_any_order",
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
    "Videos and storyboards": (
        Assumption(
            "Whether a video that is rendering takes a PATCH.",
            "None is sent while a charge of the video is open.",
            "charges/test_job_effects.py"
            "::test_the_draft_is_not_changed_upstream_while_a_charge_of_it_is_open",
            ("patch_while_busy",),
        ),
        Assumption(
            "How far the charge of a render may be from its estimate, and the body of an estimate.",
            "A hold above the estimate; what the answer or the ledger says is the cost.",
            "charges/test_kinds.py::test_pitfall_43_an_estimate_may_be_off_by_what_was_held",
            ("estimate_spread_percent",),
        ),
        Assumption(
            "Whether the order of the images of a page can be set.",
            "A service that ignores the order uses all images, and the page says so.",
            "kinds/test_page_reading.py::test_a_service_without_an_order_uses_all_images",
            ("asset_order",),
        ),
        Assumption(
            "What scrape-images answers for a page without images.",
            "An empty list or a 422: the draft says that there are none.",
            "kinds/test_page_reading.py::test_a_page_without_images_ends_with_none",
            ("page_without_images",),
        ),
        Assumption(
            "How large the shared scraping pool is.",
            "A 429 that leaves requests of the token is the pool's: only scraping waits.",
            "test_secondary_rate_limits.py"
            "::test_pitfall_27_a_429_of_the_scraping_pool_stops_scraping_alone",
            ("scraping_pool", "scraping_pool_seconds"),
        ),
        Assumption(
            "Whether a typed shortcut must name its type, too.",
            "The generic way is used, with the type in the body.",
            "test_pitfalls.py"
            "::test_pitfalls_100_101_what_the_spec_lists_only_for_all_types_goes_the_general_way",
            ("shortcut_requires_type",),
        ),
        Assumption(
            "Whether a video of ai-clips needs a clip engine, and which other fields are required.",
            "A refusal names what is missing, and nothing is charged.",
            "charges/test_dispatch.py::test_a_refusal_frees_the_hold_and_says_why",
            ("clip_engine_required",),
        ),
        Assumption(
            "The methods of scenes/sort, frames and chain.",
            "A setting names the method; a 405 names the setting and the next method to try.",
            "kinds/test_storyboard_failures.py"
            "::test_a_method_that_the_service_does_not_take_names_the_setting",
            ("scene_edit_method",),
        ),
        Assumption(
            "Whether clips of a storyboard are charged when they are made or with its render.",
            "What was charged is read from the answer: clips that cost nothing are free.",
            "dashboard/library/storyboards/test_film_history.py"
            "::test_clips_that_cost_nothing_are_free",
            ("storyboard_charged",),
        ),
        Assumption(
            "Whether the wizard's prompt is charged, how many scenes it writes, and whether its "
            "answer shows them.",
            "Scenes that the answer does not show are read back.",
            "kinds/test_storyboard_answers.py"
            "::test_an_answer_without_the_written_scenes_is_read_back_once",
            ("wizard_prompt_charged", "wizard_scenes"),
        ),
        Assumption(
            "How many scenes a storyboard may have.",
            "The service's refusal is a sentence, and nothing is lost.",
            "kinds/test_storyboard_failures.py"
            "::test_more_scenes_than_the_service_takes_is_a_sentence",
            ("scenes_per_storyboard",),
        ),
        Assumption(
            "Whether a storyboard that is rendering can be changed.",
            "A storyboard that says it is busy is polled.",
            "kinds/test_storyboard_failures.py::test_a_storyboard_that_is_busy_is_polled",
            ("storyboard_patch_while_busy",),
        ),
        Assumption(
            "Fields of a scene's clip.",
            "An object, a list, an address alone; several names of its words.",
            "kinds/test_storyboard_answers.py::test_a_clip_is_read_in_other_shapes",
            sandbox="`clip` with `id`, `status` and `url`.",
        ),
    ),
    "Clips, ideas, characters and voices": (
        Assumption(
            "Whether the models are a list or stand under a name.",
            "Both; without readable models those read before stay.",
            "test_clip_models.py::test_models_are_stored_as_a_list_or_in_an_object",
            sandbox="`data.models`.",
        ),
        Assumption(
            "How a range of durations is written in a menu.",
            "Every value, a bare list, or its ends.",
            "dashboard/shared/test_clip_engines.py::test_the_lengths_of_clips_are_shown",
            ("range_menu",),
        ),
        Assumption(
            "How rate times seconds is rounded to credits.",
            "The service's estimate is the price; the portal never computes it.",
            "kinds/test_clip.py::test_a_price_that_changed_since_is_not_paid",
            ("clip_rounding",),
        ),
        Assumption(
            "Whether a failure is an object with code and message, or a text.",
            "Both, in every kind of job.",
            "kinds/test_character.py"
            "::test_a_failed_training_ends_the_job_with_the_words_of_the_service",
            ("clip_failure_shape",),
        ),
        Assumption(
            "How a form writes true and false.",
            "1 is sent for true, which every reader of forms takes, and false is left out.",
            "upstream/test_envelope.py::test_samples_go_as_a_form_with_booleans_as_digits",
            ("form_booleans",),
        ),
        Assumption(
            "Which networks ideas are searched on.",
            "Any name can be entered; the service's sentence about it is shown.",
            "dashboard/ideas/test_search.py"
            "::test_another_network_is_sent_as_it_was_entered_and_offered_from_then_on",
            ("idea_networks",),
        ),
        Assumption(
            "What a search without results answers, and whether it charges.",
            "An empty list that cost nothing is confirmed at nothing.",
            "charges/test_kinds.py::test_pitfall_36_a_fruitless_search_costs_nothing",
            ("fruitless_search", "fruitless_keywords"),
        ),
        Assumption(
            "What `GET /ideas` answers for a keyword that nobody searched for.",
            "An empty list, 403 or 404: the search is sent.",
            "charges/test_search_evidence.py"
            "::test_a_list_refused_for_a_keyword_that_nobody_searched_for_is_empty",
            ("dialect",),
            "An empty list; in `service-v1` 403.",
        ),
        Assumption(
            "Whether the five previews a minute are an account's or a token's.",
            "Never more than five a minute are sent for an account, which keeps to either.",
            "test_secondary_rate_limits.py::test_pitfall_28_five_previews_a_minute_of_an_account",
            ("preview_limit_per", "previews_per_minute"),
        ),
        Assumption(
            "Whether `available` of the voice slots is a number or a flag.",
            "Both; what is neither is not known.",
            "test_cloned_voices.py::test_slots_are_read_in_whatever_form_they_come",
            ("slots_available", "clone_slots", "clone_slots_can_be_bought"),
        ),
    ),
}
