"""The composer: only legal values, what still fits is kept, nothing typed is lost."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.urls import reverse

from dashboard.clips.actions import CHANGED_ELSEWHERE
from dashboard.models import AuditAction, AuditEvent, Membership
from proxyapi.models import Account, Job, JobKind, JobState, Token
from tests.dashboard.clips.conftest import HTMX, PROMPT, SETTINGS, Browser, form_of, save

PAGE = "/studio/clips/"


def text_of(response) -> str:
    return response.content.decode()


def test_a_first_visit_offers_the_models_and_saves_nothing(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(PAGE))
    assert html.count('name="model"') == 4
    assert "1.10 to 1.90" in html
    assert "≈ 6" in html  # 5 s of Brook at 1.1, by the list
    assert "No clips yet" in text_of(client_of(priya).get(f"{PAGE}?part=recent"))
    assert not Job.objects.exists()


def test_the_first_change_creates_the_draft_once_and_requests_its_price(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    data = {"draft": str(uuid.uuid4()), "edited_at": "", "model": "brook", "prompt": PROMPT}
    client = client_of(priya)
    html = text_of(save(client, data, **HTMX))
    assert "The service is asked for the price" in html
    job = Job.objects.select_related("draft").get(pk=data["draft"])
    assert (job.kind, job.state, job.title) == (JobKind.CLIP, JobState.DRAFT, PROMPT)
    assert job.draft.settings["resolution"] == "480p"
    assert job.draft.quote_due_at is not None
    # The form that was sent twice carries no version of the draft.
    assert CHANGED_ELSEWHERE in text_of(save(client, data, **HTMX))
    assert Job.objects.count() == 1


def test_spelling_is_kept_and_what_a_model_does_not_offer_is_marked(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    html = text_of(save(client_of(priya), form_of(priced, model="marlow-02"), **HTMX))
    priced.draft.refresh_from_db()
    chosen = priced.draft.settings
    assert (chosen["resolution"], chosen["duration"], chosen["aspect_ratio"]) == ("768P", 6, "16:9")
    assert "audio" not in chosen
    assert "Changed from\n        720p" in html
    assert "Changed from\n        8 s" in html
    assert chosen["prompt"] == PROMPT


def test_a_resolution_with_one_sound_makes_it_a_sentence(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    data = form_of(priced, resolution="1080p", audio="off")
    html = text_of(save(client_of(priya), data, **HTMX))
    assert "With sound, the only one Kestrel Voice offers at 1080p." in html
    priced.draft.refresh_from_db()
    assert priced.draft.settings["audio"] == "on"


def test_a_menu_with_one_value_is_no_control(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    html = text_of(save(client_of(priya), form_of(priced, model="tessera"), **HTMX))
    assert "1080p, the only one Tessera offers." in html
    assert "<small>Required</small>" in html
    assert "Tessera needs an image. Add one." in html


@pytest.mark.parametrize(
    ("words", "sentence", "sign"),
    [
        (4, "Write at least 5 words. One is missing.", "draft"),
        (3, "Write at least 5 words. 2 are missing.", "draft"),
        (5, "Prompt has 5 words", "good"),
        (1500, "Prompt has 1,500 words", "good"),
        (1501, "The prompt is 1 word too long. The service takes 1,500.", "late"),
    ],
)
def test_the_prompt_is_counted_in_words(
    words: int, sentence: str, sign: str, priya: Membership, priced: Job, client_of: Browser
) -> None:
    data = form_of(priced, prompt=" ".join(["boat"] * words))
    html = text_of(save(client_of(priya), data, **HTMX))
    line = next(part for part in html.split("<li>") if f"<span>{sentence}" in part)
    assert f'data-state="{sign}"' in line


def test_another_script_without_spaces_counts_by_its_length(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    data = form_of(priced, prompt="一艘纸船在黎明穿过被淹没的城市广场")
    assert "Prompt has 9 words" in text_of(save(client_of(priya), data, **HTMX))
    priced.refresh_from_db()
    assert priced.title == "一艘纸船在黎明穿过被淹没的城市广场"


def test_a_pasted_document_is_kept_whole(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    pasted = "“Scene 1”\r\n\tA boat…\u00a0crosses\r\n\r\n• the square — at dawn"
    save(client_of(priya), form_of(priced, prompt=pasted), **HTMX)
    priced.draft.refresh_from_db()
    assert priced.draft.settings["prompt"] == pasted.replace("\r\n", "\n")


def test_an_invisible_character_is_refused_and_the_text_stays(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    response = save(client_of(priya), form_of(priced, prompt=f"{PROMPT}\u202e"))
    assert response.status_code == 422
    assert "invisible character" in text_of(response)
    assert f"{PROMPT}\u202e" in text_of(response)


def test_a_changed_prompt_keeps_the_price_and_costs_no_request(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    html = text_of(save(client_of(priya), form_of(priced, prompt=f"{PROMPT} again"), **HTMX))
    priced.draft.refresh_from_db()
    assert priced.draft.has_current_estimate
    assert (priced.draft.estimate, priced.draft.quote_due_at) == (Decimal(33), None)
    assert '<data value="33' in html
    assert not AuditEvent.objects.filter(action=AuditAction.DRAFT_SAVE).exists()


def test_a_change_in_another_window_is_not_written_over(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    stale, client = form_of(priced, prompt=f"{PROMPT} mine"), client_of(priya)
    save(client, form_of(priced, prompt=f"{PROMPT} theirs"), **HTMX)
    html = text_of(save(client, stale, **HTMX))
    assert CHANGED_ELSEWHERE in html
    assert 'id="clip-version"' not in html  # the next save is refused too
    priced.draft.refresh_from_db()
    assert priced.draft.settings["prompt"] == f"{PROMPT} theirs"


def test_without_script_the_form_saves_and_returns_to_its_draft(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    response = save(client_of(priya), form_of(priced, duration="5"))
    assert response["Location"] == f"{PAGE}?draft={priced.pk}"
    html = text_of(client_of(priya).get(response["Location"]))
    assert 'name="duration"\n                value="5" checked' in html


def test_the_last_draft_is_open_until_it_is_sent(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    assert PROMPT in text_of(client_of(priya).get(PAGE))
    new = text_of(client_of(priya).get(f"{PAGE}?draft=new"))
    assert PROMPT not in new
    assert 'value="kestrel-voice" checked' in new  # with the settings of the last one


def test_the_same_again_starts_a_new_draft_with_all_of_a_clip(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    Job.objects.filter(pk=priced.pk).update(state=JobState.COMPLETED, remote_id="88")
    html = text_of(client_of(priya).get(f"{PAGE}?from={priced.pk}"))
    assert PROMPT in html
    assert f'name="source" value="{priced.pk}"' in html
    assert f'name="draft" value="{priced.pk}"' not in html


def test_a_model_that_left_the_plan_is_named_and_the_words_stay(
    priya: Membership, priced: Job, account: Account, client_of: Browser
) -> None:
    account.clip_models = [row for row in account.clip_models if row["slug"] != "kestrel-voice"]
    account.save()
    html = text_of(client_of(priya).get(PAGE))
    assert "The chosen model is not in your plan now. Choose another one." in html
    assert PROMPT in html
    assert 'id="clip-generate-card" type="button" disabled' in html


def test_a_viewer_sees_the_clips_and_no_composer(
    vera: Membership, priced: Job, client_of: Browser
) -> None:
    html = text_of(client_of(vera).get(PAGE))
    assert "You can watch and download." in html
    assert 'id="composer"' not in html
    assert client_of(vera).post(reverse("clip-drafts"), form_of(priced)).status_code == 403


def test_without_a_token_the_page_says_what_to_do(priya: Membership, client_of: Browser) -> None:
    html = text_of(client_of(priya).get(PAGE))
    assert "Add your API token to make clips." in html


def test_the_page_reads_little(
    priya: Membership, priced: Job, client_of: Browser, django_assert_max_num_queries
) -> None:
    client = client_of(priya)
    client.get(PAGE)
    with django_assert_max_num_queries(13):
        response = client.get(PAGE)
    assert len(response.content) < 60_000
    assert SETTINGS["prompt"] in text_of(response)
