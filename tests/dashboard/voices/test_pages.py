"""The pages of voices: the list, the form, a voice's state; for who makes and for who looks."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dashboard.models import Membership, VoiceConsent
from dashboard.shared.job_pages import job_page_url
from dashboard.voices.clone_settings import UNNAMED
from proxyapi.models import Account, AccountPlan, Job, JobKind, JobState, StoredFile, VoiceSlots
from proxyapi.stored_files import read_stored_file
from tests.dashboard.voices.conftest import CHOSEN, WAV, Browser, create
from tests.factories import JobFactory
from tests.recordings import make_wav

pytestmark = pytest.mark.usefixtures("template_contexts")
HTMX = {"headers": {"HX-Request": "true"}}


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def sample_file(content: bytes = WAV, name: str = "lake.wav") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "audio/wav")


def add(browser: Any, job: Job, *files: SimpleUploadedFile) -> str:
    address = reverse("voice-samples", args=[job.pk])
    return text_of(browser.post(address, {"samples": files}, **HTMX))


def test_a_press_starts_one_draft_and_has_the_slots_read(
    token: Any, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    first = browser.post(reverse("voice-new"))
    again = browser.post(reverse("voice-new"))
    job = Job.objects.get(kind=JobKind.CLONE)
    assert first.url == again.url == reverse("voice", args=[job.pk])
    assert job.title == UNNAMED
    assert VoiceSlots.objects.get().due_at is not None
    assert "Clone a voice" in text_of(browser.get(first.url))


def test_a_draft_is_saved_field_by_field_and_says_what_is_missing(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    browser, address = client_of(priya), reverse("voice", args=[voice.pk])
    answer = text_of(browser.post(address, {"name": "Lake  voice", "gender": "male"}, **HTMX))
    voice.refresh_from_db()
    assert voice.title == voice.draft.settings["name"] == "Lake voice"
    assert "Choose whose voice it is" in answer
    assert 'hx-swap-oob="true"' in answer


@pytest.mark.parametrize(
    ("entered", "sentence"),
    [
        ({"name": "x" * 61}, "At most 60 characters"),
        ({"name": "evil\u202ename"}, "invisible character"),
        ({"gender": "robot"}, "Choose one from the list."),
        ({"agreed_on": "2999-01-01"}, "cannot be in the future"),
        ({"agreed_on": "yesterday"}, "Enter a date."),
    ],
)
def test_a_wrong_value_is_a_sentence_and_nothing_is_lost(
    entered: dict[str, str], sentence: str, voice: Job, priya: Membership, client_of: Browser
) -> None:
    address = reverse("voice", args=[voice.pk])
    assert sentence in text_of(client_of(priya).post(address, entered, **HTMX))
    assert Job.objects.get(pk=voice.pk).draft.settings == CHOSEN


def test_what_another_member_changed_meanwhile_is_not_overwritten(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    entered = {"name": "Mine", "seen": "another"}
    answer = client_of(priya).post(reverse("voice", args=[voice.pk]), entered, **HTMX)
    assert "This voice was changed in another window or by somebody else." in text_of(answer)


def test_samples_are_kept_encrypted_played_and_removed(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert "2 of 3" in add(browser, voice, sample_file(make_wav(7), "second.wav"))
    first, second = StoredFile.objects.all()
    assert read_stored_file(second) == make_wav(7)
    played = browser.get(reverse("voice-sample", args=[voice.pk, first.pk]))
    assert (played.content, played["Content-Type"]) == (WAV, "audio/wav")
    part = browser.get(
        reverse("voice-sample", args=[voice.pk, first.pk]), headers={"Range": "bytes=4-7"}
    )
    assert (part.status_code, part.content) == (206, WAV[4:8])
    assert part["Content-Range"] == f"bytes 4-7/{len(WAV)}"
    removal = reverse("voice-sample-removals", args=[voice.pk, first.pk])
    assert "1 of 3" in text_of(browser.post(removal, **HTMX))


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "empty.wav", "The file is empty."),
        (b"%PDF-1.7 and no sound", "voice.wav", "cannot be read as sound"),
        (make_wav(2), "short.wav", "shorter than 5 seconds"),
        (make_wav(185), "long.wav", "longer than 3 minutes"),
    ],
)
def test_a_wrong_file_is_named_and_not_kept(
    content: bytes, name: str, sentence: str, voice: Job, priya: Membership, client_of: Browser
) -> None:
    answer = add(client_of(priya), voice, sample_file(content, name))
    assert f"“{name}”" in answer
    assert sentence in answer
    assert StoredFile.objects.count() == 1


def test_a_fourth_sample_is_refused(voice: Job, priya: Membership, client_of: Browser) -> None:
    browser = client_of(priya)
    answer = add(browser, voice, *(sample_file(make_wav(6 + n)) for n in range(3)))
    assert "At most three samples are allowed." in answer
    assert StoredFile.objects.count() == 1


def test_the_question_names_what_is_sent_and_has_no_price_for_a_free_slot(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    answer = text_of(client_of(priya).get(reverse("voice-creations", args=[voice.pk]), **HTMX))
    assert "1 sample of Priya Raman go to the service. It uses a free slot." in answer
    assert "btn__price" not in answer


def test_the_answer_to_the_question_creates_the_voice(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    browser, address = client_of(priya), reverse("voice-creations", args=[voice.pk])
    question = browser.get(address, **HTMX).context["question"]
    sent = {
        "nonce": question.idempotency_key,
        "price": question.price,
        "edited_at": question.hidden_fields["edited_at"],
    }
    assert browser.post(address, sent).url == reverse("voice", args=[voice.pk])
    assert voice.charges.get().operation == "voice_clones.create"
    assert "Waiting" in text_of(browser.get(reverse("voice", args=[voice.pk])))
    add(browser, voice, sample_file())
    page = text_of(browser.get(reverse("voice", args=[voice.pk])))
    assert "Your change was not saved." in page


def test_a_viewer_looks_and_has_no_acts(
    voice: Job, vera: Membership, priya: Membership, client_of: Browser
) -> None:
    create(priya, voice)
    browser = client_of(vera)
    page = text_of(browser.get(reverse("voice", args=[voice.pk])))
    assert "Priya Raman" in page
    assert reverse("voice-withdrawals", args=[voice.pk]) not in page
    listed = text_of(browser.get(reverse("voices")))
    assert "You can look; producers can make." in listed
    assert reverse("voice-new") not in listed
    assert "Make a video" not in listed


def test_what_is_sent_for_the_form_of_a_voice_that_was_created_leads_to_its_page(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    """The form is open in another tab."""
    browser, file = client_of(priya), voice.stored_files.get()
    create(priya, voice)
    for name, ids in (
        ("voice", [voice.pk]),
        ("voice-samples", [voice.pk]),
        ("voice-sample-removals", [voice.pk, file.pk]),
    ):
        answer = browser.post(reverse(name, args=ids), {"name": "Lake"}, **HTMX)
        assert answer.headers["HX-Redirect"] == reverse("voice", args=[voice.pk])
    assert Job.objects.get().stored_files.get() == file


def test_a_trial_plan_is_said_and_nothing_can_be_created(
    voice: Job, account: Account, priya: Membership, client_of: Browser
) -> None:
    account.plan = AccountPlan.TRIAL
    account.save()
    page = client_of(priya).get(reverse("voice", args=[voice.pk]))
    assert "paid plans only, not on trials" in text_of(page)
    assert not page.context["page"].price.is_ready


def test_the_microphone_is_allowed_on_the_form_alone(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    form = browser.get(reverse("voice", args=[voice.pk]))["Permissions-Policy"].split(", ")
    assert {"microphone=(self)", "camera=()"} <= set(form)
    assert "microphone=()" in browser.get(reverse("voices"))["Permissions-Policy"].split(", ")
    create(priya, voice)
    sent = browser.get(reverse("voice", args=[voice.pk]))["Permissions-Policy"]
    assert "microphone=()" in sent.split(", ")


def test_the_list_has_the_teams_voices_the_slots_and_the_services(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    film = {
        "kind": JobKind.FACELESS,
        "state": JobState.COMPLETED,
        "remote_id": "5",
        "media_url": "http://127.0.0.1:8001/f.mp4",
        "draft__settings": {"voice_id": 7},
    }
    made = JobFactory(account=voice.account, token=voice.token, title="Night trains", **film)
    page = client_of(priya).get(reverse("voices"))
    text = text_of(page)
    assert "Priya, bright" in text
    assert "1 free" in text
    assert reverse("video-media", args=[made.pk]) in text
    rows = page.context["list"].rows
    assert [row["voice"].name for row in rows] == ["Theo", "Aurélie", "Maren"]
    assert rows[0]["count"].videos == 1


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("?q=french", ["Aurélie"]),
        ("?language=English&sort=name", ["Maren", "Theo"]),
        ("?gender=male", ["Theo"]),
        ("?favourites=only", ["Maren"]),
        ("?sample=with", []),
        ("?gender=nobody%00", []),
    ],
)
def test_the_list_is_searched_and_filtered(
    query: str, names: list[str], voice: Job, priya: Membership, client_of: Browser
) -> None:
    priya.favourite_voices = {voice.account.environment: ["3"]}
    priya.save()
    page = client_of(priya).get(reverse("voices") + query).context["list"]
    assert [row["voice"].name for row in page.rows] == names


def test_a_star_is_the_members_own_and_comes_first_in_the_studio(
    voice: Job, priya: Membership, luca: Membership, client_of: Browser
) -> None:
    star = {"voice_id": "11", "name": "Aurélie", "on": "1"}
    answer = text_of(client_of(priya).post(reverse("voice-favourites"), star, **HTMX))
    assert 'aria-pressed="true"' in answer
    priya.refresh_from_db()
    assert priya.favourite_voices == {voice.account.environment: ["11"]}
    draft = JobFactory(account=voice.account, token=voice.token)
    step = reverse("studio-step", args=[draft.pk, "voice"])
    chosen = {who: client_of(who).get(step).context["voices"].rows for who in (priya, luca)}
    assert chosen[priya][0]["voice"].name == "Aurélie"
    assert chosen[luca][0]["voice"].name == "Maren"


def test_make_a_video_starts_a_draft_with_the_voice(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    browser.post(reverse("drafts"), {"voice_id": "7"})
    assert Job.objects.get(kind=JobKind.FACELESS).draft.settings["voice_id"] == 7
    other = browser.post(reverse("drafts"), {"voice_id": "999"})
    assert "Your account does not have this voice." in text_of(other)


def test_a_voice_that_drafts_have_and_the_service_lists_no_more_is_said(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    JobFactory(account=voice.account, token=voice.token, draft__settings={"voice_id": 404})
    text = text_of(client_of(priya).get(reverse("voices")))
    assert "Not listed any more. 1 draft uses it." in text


def test_a_deleted_draft_leaves_no_sample_and_keeps_its_consents(
    voice: Job, priya: Membership, client_of: Browser
) -> None:
    charge = create(priya, voice)
    charge.state = "refused"
    charge.save()
    client_of(priya).post(reverse("voice-deletions", args=[voice.pk]))
    assert not StoredFile.objects.exists()
    assert VoiceConsent.objects.count() == 1
    assert "Priya, bright" not in text_of(client_of(priya).get(reverse("voices")))


def test_a_voice_is_no_video(voice: Job, priya: Membership, client_of: Browser) -> None:
    browser = client_of(priya)
    assert "Priya, bright" not in text_of(browser.get(reverse("library")))
    assert "Priya, bright" not in text_of(browser.get(reverse("drafts")))
    assert browser.get(reverse("video", args=[voice.pk])).url == reverse("voice", args=[voice.pk])
    Job.objects.filter(pk=voice.pk).update(
        state=JobState.RUNNING, remote_id="640", next_poll_at="2026-11-25T00:00:00Z"
    )
    overview = browser.get(reverse("overview"))
    assert overview.context["shell"].counts.running == 0
    assert "Priya, bright" not in text_of(overview)


def test_a_link_to_a_job_leads_to_the_page_of_its_kind(voice: Job) -> None:
    film = JobFactory(account=voice.account, token=voice.token)
    assert job_page_url(voice) == reverse("voice", args=[voice.pk])
    assert job_page_url(film) == reverse("video", args=[film.pk])
    voice.hidden_at = voice.created_at
    assert job_page_url(voice) == job_page_url(None) == ""
