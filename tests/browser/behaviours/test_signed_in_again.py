"""Who signs in again in another tab goes on in this one: what is typed is saved with another CSRF
token. Nothing is saved for anybody else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from dashboard.models import ApprovalComment, Budget, Membership
from dashboard.shared.charging import request_approval
from proxyapi.models import Draft, Job, JobKind
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.browser.page_server import PageServer
from tests.browser.sandbox_control import wait_until
from tests.dashboard.budgets.conftest import make_intent
from tests.dashboard.clips.conftest import MODELS, SETTINGS, make_clip_draft
from tests.dashboard.studio.conftest import step_url
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.storyboards import create_storyboard, create_storyboard_token

WORDS = "Twelve words that somebody wrote while signed out in this very tab here."
RECONNECTED = "document.dispatchEvent(new CustomEvent('htmx:sseOpen'))"
SAVED = "!document.querySelector('form[data-unsaved]')"
ENDED = "Copy what you typed"


def sign_in_again(page: Page, member: Membership, server: PageServer) -> None:
    client = Client()
    client.force_login(member.user)
    name = settings.SESSION_COOKIE_NAME
    cookie = {"name": name, "value": client.cookies[name].value, "url": server.address}
    page.context.add_cookies([cookie])  # type: ignore[list-item]


@pytest.fixture
def script(priya: Membership, ready: Job, open_page: OpenPage) -> Locator:
    """The script of a draft, of somebody who was signed out."""
    page = open_page(priya, step_url(ready, "script"))
    page.context.clear_cookies()
    words = page.locator("textarea[name=script]")
    words.fill(WORDS)
    words.press("Tab")
    expect(page.locator("#toasts")).to_contain_text(ENDED)
    return words


@pytest.mark.console("403")
def test_what_is_typed_while_signed_out_is_saved_after_signing_in_again(
    script: Locator, priya: Membership, page_server: PageServer
) -> None:
    page = script.page
    sign_in_again(page, priya, page_server)
    page.evaluate(RECONNECTED)
    wait_until(lambda: page.evaluate(SAVED))
    expect(page.locator("[data-said=ended]")).to_have_count(0)
    assert Draft.objects.get().settings["script"] == WORDS


@pytest.mark.console("403")
def test_what_is_typed_while_signed_out_is_not_saved_for_somebody_else(
    script: Locator, luca: Membership, page_server: PageServer
) -> None:
    page = script.page
    page.locator("[data-said=ended] [data-close]").click()
    sign_in_again(page, luca, page_server)
    page.evaluate(RECONNECTED)
    expect(page.locator("#toasts")).to_contain_text(ENDED)
    expect(script).to_have_value(WORDS)
    assert Draft.objects.get().settings["script"] != WORDS


def create_step(priya: Membership, request: pytest.FixtureRequest) -> tuple[str, str]:
    return step_url(request.getfixturevalue("ready"), "type"), "input[name=title]"


def create_clip(priya: Membership, request: pytest.FixtureRequest) -> tuple[str, str]:
    account = AccountFactory.create(tenant=priya.team.tenant, clip_models=MODELS)
    make_clip_draft(TokenFactory.create(account=account, owner=priya.user), SETTINGS)
    return reverse("clips"), "#id_prompt"


def create_voice(priya: Membership, request: pytest.FixtureRequest) -> tuple[str, str]:
    token = TokenFactory.create(account__tenant=priya.team.tenant, owner=priya.user)
    job = JobFactory.create(account=token.account, token=token, kind=JobKind.CLONE)
    return reverse("voice", args=[job.pk]), "#name"


def create_scene(priya: Membership, request: pytest.FixtureRequest) -> tuple[str, str]:
    storyboard = create_storyboard(priya, create_storyboard_token(priya), "Waves")
    return reverse("storyboard", args=[storyboard.pk]), "#id_prompt"


@pytest.mark.console("403")
@pytest.mark.parametrize("create", [create_step, create_clip, create_voice, create_scene])
def test_each_form_that_saves_itself_does_so_with_another_token_once_its_own_is_refused(
    create: Callable[..., tuple[str, str]],
    priya: Membership,
    open_page: OpenPage,
    request: pytest.FixtureRequest,
) -> None:
    address, field = create(priya, request)
    page = open_page(priya, address)
    page.context.clear_cookies(name=re.compile("csrf"))
    page.locator(field).fill(WORDS[:40])
    page.locator(field).press("Tab")
    wait_until(lambda: page.evaluate(SAVED))
    expect(page.locator("#toasts")).to_be_empty()
    page.reload()
    expect(page.locator(field)).to_have_value(WORDS[:40])


@pytest.mark.console("403")
def test_a_press_whose_token_is_refused_says_that_nothing_was_sent_and_may_be_repeated(
    priya: Membership, open_page: OpenPage, request: pytest.FixtureRequest
) -> None:
    page = open_page(priya, create_voice(priya, request)[0])
    page.context.clear_cookies(name=re.compile("csrf"))
    button = page.get_by_role("button", name="Look at the slots")
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was sent. Press again.")
    with page.expect_response("**/voices/slots/**") as answer:
        button.click()
    assert answer.value.status == 200
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_press_is_sent_though_its_form_was_replaced_while_the_session_was_checked(
    priya: Membership, ready: Job, open_page: OpenPage, page_server: PageServer
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=50)
    approval = request_approval(priya, make_intent(ready), "For the fair.")
    page = open_page(priya, reverse("approval-request", args=[approval.pk]))
    page.get_by_label("Comment").fill("The client wants 60 s.")
    page.evaluate("window.form = document.querySelector('#comments form')")
    with hold_response(page, "**/session/*"):
        page.get_by_role("button", name="Add comment").click()
        page_server.push("touched", "budget")
        wait_until(lambda: page.evaluate("!window.form.isConnected"))
    expect(page.locator("#comments article")).to_contain_text("The client wants 60 s.")
    assert ApprovalComment.objects.count() == 1
