"""The studio's first page: drafts of the team, and a new one from a topic or an own script."""

from __future__ import annotations

from decimal import Decimal

from django.urls import reverse

from dashboard.models import AuditEvent, Membership
from proxyapi.models import AccountPlan, Draft, Job, JobState, Token, TokenState
from proxyapi.models.charge import ChargeState
from tests.dashboard.studio.conftest import Browser, get_page
from tests.factories import AccountFactory, ChargeFactory, TokenFactory

LIST = reverse("studio")
NEW = reverse("drafts")
TOPIC = {"title": "Bees", "source": "topic", "topic": "How bees vote"}


def test_a_draft_starts_from_a_topic(priya: Membership, token: Token, client_of: Browser) -> None:
    answer = client_of(priya).post(NEW, TOPIC)
    job = Job.objects.get(title="Bees")
    assert answer.url == reverse("studio-step", args=[job.pk, "type"])
    assert job.draft.settings == {"type": "ai-visuals", "title": "Bees", "topic": "How bees vote"}
    assert (job.token, job.member) == (token, priya.user)
    assert AuditEvent.objects.get().action == "draft.start"


def test_a_draft_starts_from_an_own_script(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    client_of(priya).post(NEW, {"title": "Bees", "source": "script", "script": "They\r\ndance."})
    assert Job.objects.get().draft.settings["script"] == "They\ndance."


def test_an_own_script_that_is_empty_is_a_sentence_and_starts_nothing(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, {"title": "Bees", "source": "script", "script": "  "})
    assert answer.status_code == 422
    assert "Enter a script" in answer.content.decode()
    assert not Job.objects.exists()


def test_a_title_is_needed_and_has_an_end(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert "Enter a title" in browser.post(NEW, {**TOPIC, "title": " "}).content.decode()
    long = browser.post(NEW, {**TOPIC, "title": "x" * 201}).content.decode()
    assert "At most 200 characters are allowed (now 201)." in long
    assert "How bees vote" in long
    assert not Job.objects.exists()


def test_a_script_that_was_not_chosen_does_no_harm(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    answer = client_of(priya).post(NEW, {**TOPIC, "script": "word " * 4000})
    assert answer.status_code == 302


def test_who_has_no_token_is_sent_for_one(priya: Membership, client_of: Browser) -> None:
    html = get_page(client_of(priya), LIST)
    assert "Add your token" in html
    assert reverse("tokens") in html
    assert "Create draft" not in html


def test_who_had_a_token_is_told_that_it_stopped(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    token.state = TokenState.REVOKED
    token.save()
    assert "Your token stopped working" in get_page(client_of(priya), LIST)


def test_a_trial_is_told_before_a_draft_is_started(
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
        html = get_page(client_of(member), LIST)
        assert draft.title in html
        assert "New video" not in html
        assert client_of(member).post(NEW, TOPIC).status_code == 403


def test_drafts_of_another_team_are_not_there(
    otto: Membership, draft: Job, client_of: Browser
) -> None:
    assert draft.title not in get_page(client_of(otto), LIST)


def test_each_draft_says_what_it_needs_and_its_price(
    priya: Membership, draft: Job, ready: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), LIST)
    assert "needs a format" in html
    assert "ready to render" in html
    assert 'data-is="about" value="96"' in html


def test_what_is_on_its_way_is_no_draft(
    priya: Membership, ready: Job, draft: Job, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, state=ChargeState.HELD, quote=Decimal(96))
    Job.objects.filter(pk=draft.pk).update(state=JobState.FAILED, remote_id="9")
    assert "No drafts" in get_page(client_of(priya), LIST)


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
