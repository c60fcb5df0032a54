"""What the specification does not show of videos, clips, ideas, characters and voices: rows of
docs/reference/assumptions.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.checks.assumption_table import Assumption

JOB_AREAS: Mapping[str, Sequence[Assumption]] = {
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
            "The shape of `captions` in a PATCH, and where font and position are.",
            "The chosen settings, and an object of them where the record shows an object or null, "
            "or a refusal names `captions`.",
            "kinds/test_faceless_draft.py::test_captions_are_sent_as_the_record_shows_them",
            ("dialect",),
        ),
        Assumption(
            "The body of an export, and the shape of its captions.",
            "As in a PATCH: the chosen captions, and an object of them where the record shows one.",
            "kinds/test_export_captions.py::test_an_export_has_the_chosen_captions",
            ("dialect",),
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
