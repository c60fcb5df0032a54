"""The studio's first page: drafts of the team, and a new one from a topic or an own script."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import AuditEvent, Membership
from dashboard.shared.formatting import age_text
from dashboard.studio.flows import FLOWS
from dashboard.studio.forms import new_draft
from proxyapi.models import AccountPlan, Draft, Job, JobState, Token, TokenState
from proxyapi.models.charge import ChargeState
from tests.dashboard.studio.conftest import WANTED, Browser, get_page
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

LIST = reverse("studio")
NEW = reverse("drafts")
PART = f"{LIST}?part=drafts"
TOPIC = {"start": "How bees vote"}
FIRST_VALUES = {"aspect_ratio": "16:9", "voice_id": 3, "genre_id": 941, "image_engine_id": 71}


def test_a_draft_starts_from_a_topic_with_the_first_values_offered(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, TOPIC)
    job = Job.objects.get(title="How bees vote")
    assert answer.url == reverse("studio-step", args=[job.pk, "script"])
    assert job.draft.settings == {
        "type": "ai-visuals",
        "title": "How bees vote",
        "topic": "How bees vote",
        **FIRST_VALUES,
    }
    assert (job.token, job.member) == (token, priya.user)
    assert AuditEvent.objects.get().action == "draft.start"


def test_a_draft_starts_from_an_own_script_and_is_ready(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, {"start": "They\r\ndance.", "read_as": "script"})
    job = Job.objects.get()
    assert job.draft.settings["script"] == "They\ndance."
    assert answer.url == reverse("studio-step", args=[job.pk, "review"])
    assert job.draft.quote_due_at is not None


@pytest.mark.parametrize("text", ["", "  ", "\u200b"])
def test_an_empty_field_is_a_sentence_and_starts_nothing(
    text: str, priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, {"start": text})
    assert answer.status_code == 422
    assert "Enter a topic, a script or a link" in answer.content.decode()
    assert not Job.objects.exists()


def test_a_type_starts_a_draft_without_a_text(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, {"start": "", "type": "ai-visuals", "flow": "b-roll"})
    job = Job.objects.get(title="Untitled video")
    assert answer.url == reverse("studio-step", args=[job.pk, "type"])
    assert job.draft.settings["type"] == "b-roll"
    assert "genre_id" not in job.draft.settings


def test_a_type_that_is_pressed_takes_the_text_along(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    client_of(priya).post(NEW, {**TOPIC, "type": "ai-visuals", "flow": "b-roll"})
    chosen = Job.objects.get().draft.settings
    assert (chosen["type"], chosen["topic"]) == ("b-roll", "How bees vote")


def test_a_link_is_not_made_into_another_type(
    priya: Membership, token: Token, client_of: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = {**FLOWS, "url-based": FLOWS["b-roll"]}
    monkeypatch.setattr(new_draft, "FLOWS", flows)
    page = client_of(priya).post(NEW, {"start": "https://example.com/a", "flow": "b-roll"})
    assert page.status_code == 422
    assert "A link becomes a video from its web page." in page.content.decode()
    assert not Job.objects.exists()


def test_a_script_that_is_too_long_is_kept(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    page = client_of(priya).post(NEW, {"start": "word " * 3001})
    assert page.status_code == 422
    assert "3,001 words are too many" in page.content.decode()
    assert page.content.decode().count("word word") > 1000
    assert not Job.objects.exists()


def test_the_chosen_length_and_format_are_kept(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser = client_of(priya)
    browser.post(NEW, {**TOPIC, "duration": "180", "aspect_ratio": "tall-one"})
    job = Job.objects.get()
    assert job.draft.settings["aspect_ratio"] == "tall-one"
    step = get_page(browser, reverse("studio-step", args=[job.pk, "script"]))
    assert re.search(r'<option value="180"\s+selected', step)
    assert re.search(r'<option value="180" selected', get_page(browser, LIST))


def test_a_draft_starts_with_the_last_settings_of_its_type(
    priya: Membership, jonas: Membership, token: Token, ready: Job, client_of: Browser
) -> None:
    """First the member's own, then the team's; never what the service no longer offers."""
    chosen = {**WANTED, "voice_id": 7, "genre_id": 942, "image_engine_id": 999, "font": "f-1"}
    Draft.objects.filter(pk=ready.pk).update(settings=chosen)
    TokenFactory.create(account=token.account, owner=jonas.user)
    own = {**WANTED, "voice_id": 11, "type": "b-roll"}
    JobFactory.create(account=token.account, token=token, member=jonas.user, draft__settings=own)
    client_of(jonas).post(NEW, {**TOPIC, "type": "ai-visuals"})
    kept = Job.objects.latest("created_at").draft.settings
    assert (kept["voice_id"], kept["genre_id"], kept["font"]) == (7, 942, "f-1")
    assert kept["image_engine_id"] == 71
    assert "script" not in kept
    client_of(jonas).post(NEW, {**TOPIC, "type": "b-roll"})
    assert Job.objects.latest("created_at").draft.settings["voice_id"] == 11


def test_reading_shows_how_the_text_is_read_and_stores_nothing(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser, reading = client_of(priya), reverse("studio-reading")
    part = {"HX-Request": "true"}
    html = browser.post(reading, {**TOPIC, "duration": "180"}, headers=part).content.decode()
    assert "Reads as a topic" in html
    assert "about 450 words" in html
    assert "for 4 cr" in " ".join(html.split())
    page = browser.post(reading, {**TOPIC, "read_as": "script"}).content.decode()
    assert "Reads as a script" in page
    assert "How bees vote</textarea>" in page
    assert not Job.objects.exists()


def test_an_unchanged_reading_is_not_announced_again(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser, reading = client_of(priya), reverse("studio-reading")
    part = {"HX-Request": "true"}
    first = browser.post(reading, TOPIC, headers=part).content.decode()
    shown = re.search(r'name="shown" value="([^"]+)"', first)
    assert shown
    more = {"start": "How bees vote in May", "shown": shown[1]}
    again = browser.post(reading, more, headers=part).content.decode()
    assert "Reads as" not in again
    assert "20 of 500 characters" in again


def test_who_has_no_token_is_sent_for_one(priya: Membership, client_of: Browser) -> None:
    html = get_page(client_of(priya), LIST)
    assert "Add your API token" in html
    assert reverse("tokens") in html
    assert re.search(r'type="submit" disabled aria-describedby="quick-why"', html)
    assert 'name="flow"' not in html


def test_a_member_whose_token_stopped_working_sees_it(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    token.state = TokenState.REVOKED
    token.save()
    assert "Your token stopped working" in get_page(client_of(priya), LIST)


def test_a_trial_sees_its_limits_before_a_draft_is_started(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    token.account.plan = AccountPlan.TRIAL
    token.account.save()
    assert "paid plans only, not on trials" in get_page(client_of(priya), LIST)


def test_a_newer_token_of_a_trial_takes_no_draft_while_another_one_works(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    trial = AccountFactory.create(tenant=priya.team.tenant, plan=AccountPlan.TRIAL)
    TokenFactory.create(account=trial, owner=priya.user, state=TokenState.PAUSED)
    browser = client_of(priya)
    assert "not on trials" not in get_page(browser, LIST)
    browser.post(NEW, TOPIC)
    assert Job.objects.get().token == token


def test_of_two_tokens_that_work_the_newer_one_takes_the_draft(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    newer = TokenFactory.create(account=token.account, owner=priya.user)
    client_of(priya).post(NEW, TOPIC)
    assert Job.objects.get().token == newer


def test_a_newer_token_that_does_not_open_takes_no_draft(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    newer = TokenFactory.create(account=token.account, owner=priya.user)
    Token.objects.filter(pk=newer.pk).update(ciphertext=b"")
    client_of(priya).post(NEW, TOPIC)
    assert Job.objects.get().token == token


def test_starting_without_a_token_is_refused_with_the_words_kept(
    priya: Membership, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, TOPIC)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "You have no token yet" in html
    assert "How bees vote" in html


def test_looking_roles_see_drafts_and_no_form(
    vera: Membership, thea: Membership, draft: Job, client_of: Browser
) -> None:
    for member in (vera, thea):
        browser = client_of(member)
        assert draft.title in get_page(browser, PART)
        assert draft.title in get_page(browser, NEW)
        assert "studio-deletions" not in get_page(browser, NEW)
        html = get_page(browser, LIST)
        assert "You can read drafts here" in html
        assert 'id="quick"' not in html
        assert browser.post(NEW, TOPIC).status_code == 403


@pytest.mark.parametrize("url", [PART, NEW])
def test_drafts_of_another_team_are_not_there(
    url: str, otto: Membership, draft: Job, client_of: Browser
) -> None:
    assert draft.title not in get_page(client_of(otto), url)


@pytest.mark.parametrize("url", [PART, NEW])
def test_each_draft_says_what_it_needs_and_its_price(
    url: str, priya: Membership, draft: Job, ready: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), url)
    assert re.search(r'data-state="draft".*Format, script, voice and genre', html)
    assert "Nothing, ready to render" in html
    assert 'data-is="about" value="96"' in html
    assert "AI visuals, 16:9" in html
    assert "reelroom:draft from:body" in html  # those of others appear by themselves


def test_a_draft_that_waits_says_for_what_and_whom(
    priya: Membership,
    thea: Membership,
    mira: Membership,
    draft: Job,
    ready: Job,
    client_of: Browser,
) -> None:
    ChargeFactory.create(job=ready, state=ChargeState.DRAFT, quote=Decimal(97))
    ChargeFactory.create(job=draft, operation="faceless.scripts", state=ChargeState.HELD)
    html = get_page(client_of(priya), PART)
    assert "Waiting for approval by Thea or Mira" in html
    assert 'value="97"' in html
    assert "The script is being written" in html


def test_a_price_that_the_service_refused_is_missing(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    Draft.objects.filter(pk=ready.pk).update(quote_error="Unknown voice.", sent_settings={})
    assert "Price: Unknown voice." in get_page(client_of(priya), PART)


def test_what_is_on_its_way_is_no_draft(
    priya: Membership, ready: Job, draft: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, state=ChargeState.HELD, quote=Decimal(96))
    Job.objects.filter(pk=draft.pk).update(state=JobState.FAILED, remote_id="9")
    assert "No drafts" in get_page(client_of(priya), PART)


def test_drafts_are_filtered_by_member_type_and_words(
    priya: Membership, jonas: Membership, token: Token, ready: Job, client_of: Browser
) -> None:
    other = JobFactory.create(
        account=token.account,
        token=token,
        member=jonas.user,
        title="Bread",
        draft__settings={"type": "b-roll", "script": "Yeast eats sugar."},
    )
    browser = client_of(priya)
    for query, titles in (
        ("", {ready.title, other.title}),
        ("whose=mine", {ready.title}),
        ("type=b-roll", {other.title}),
        ("q=yeast", {other.title}),
        ("q=nothing", set()),
        ("type=b-roll&whose=mine", set()),
        ("type=poem&whose=theirs&before=x.y.z", {ready.title, other.title}),
    ):
        html = get_page(browser, f"{NEW}?{query}")
        assert {title for title in (ready.title, other.title) if title in html} == titles, query
    assert "No results" in get_page(browser, f"{NEW}?q=nothing")


def test_many_drafts_are_shown_page_by_page(
    priya: Membership, token: Token, client_of: Browser, django_assert_max_num_queries: Any
) -> None:
    for number in range(45):
        JobFactory.create(account=token.account, token=token, title=f"Draft {number:02}")
    browser = client_of(priya)
    browser.get(NEW)
    with django_assert_max_num_queries(12):
        first = get_page(browser, NEW)
    older = re.search(r'href="([^"]*before=[^"]*)"', first)
    assert older
    second = get_page(browser, older[1].replace("&amp;", "&"))
    titles = [set(re.findall(r"Draft \d\d", html)) for html in (first, second)]
    assert [len(shown) for shown in titles] == [40, 5]
    assert not titles[0] & titles[1]
    assert "45 drafts" in second
    part = get_page(browser, PART)
    assert len(set(re.findall(r"Draft \d\d", part))) == 5
    assert "5 of 45 drafts" in part


def test_a_deleted_draft_is_gone_and_can_be_taken_back(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    browser = client_of(priya)
    page = browser.post(reverse("studio-deletions", args=[draft.pk]), follow=True)
    assert f"“{draft.title}” is deleted." in page.content.decode()
    assert "No drafts" in get_page(browser, PART)
    undo = reverse("studio-restorations", args=[draft.pk])
    assert undo in page.content.decode()
    browser.post(undo)
    assert draft.title in get_page(browser, PART)
    actions = AuditEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["draft.delete", "draft.restore"]


@pytest.mark.parametrize("operation", ["faceless.scripts", "faceless.render"])
@pytest.mark.parametrize("state", [ChargeState.DRAFT, ChargeState.HELD])
def test_a_draft_with_an_open_request_is_not_deleted(
    operation: str, state: str, priya: Membership, ready: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, operation=operation, state=state, quote=Decimal(4))
    page = client_of(priya).post(reverse("studio-deletions", args=[ready.pk]), follow=True)
    assert "Not deleted." in page.content.decode()
    ready.refresh_from_db()
    assert ready.hidden_at is None


@pytest.mark.parametrize(
    ("age_s", "text"),
    [
        (20, "now"),
        (12 * 60 + 5, "12 min ago"),
        (3600, "1 h ago"),
        (23 * 3600, "23 h ago"),
        (90_000, "1 day ago"),
        (11 * 86_400, "11 days ago"),
    ],
)
def test_the_age_of_a_draft_is_in_words(age_s: int, text: str) -> None:
    assert age_text(timedelta(seconds=age_s)) == text


def test_a_draft_is_opened_at_the_first_step_with_something_missing(
    ready: Job, priya: Membership, client_of: Browser
) -> None:
    for settings, step in (
        ({"aspect_ratio": ""}, "type"),
        ({"voice_id": ""}, "voice"),
        ({}, "review"),
    ):
        Draft.objects.filter(pk=ready.pk).update(settings={**ready.draft.settings, **settings})
        answer = client_of(priya).get(reverse("studio-draft", args=[ready.pk]))
        assert answer.url == reverse("studio-step", args=[ready.pk, step])
