"""What is wrong with a field is said in our words, for all fields of all forms, and repeats nothing
that was sent."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from django import forms
from django.test import Client
from django.urls import reverse

import dashboard
from dashboard.models import Membership
from dashboard.shared.forms import PortalForm, replace_default_messages, required_message
from proxyapi.models import Charge, Draft, Job, JobState
from tests.cases import each_case
from tests.dashboard.studio.conftest import OPTIONS, WANTED
from tests.factories import AccountFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Client]
DJANGOS = ("This field", "Select a valid", "Enter a valid", "Ensure", "Null characters", "UUID")
LONG = "x" * 100_000
HTMX = {"HX-Request": "true"}


def all_forms() -> Iterator[type[PortalForm]]:
    """Every form of the site."""
    for module in pkgutil.walk_packages(dashboard.__path__, "dashboard."):
        if "forms" in module.name.split("."):
            importlib.import_module(module.name)
    left = [PortalForm]
    while left:
        form = left.pop()
        left += form.__subclasses__()
        yield form


def sentences(field: forms.Field) -> Iterator[str]:
    """What it says of a dozen bad values."""
    for value in ("", None, "\0", LONG, "-1", "1e99", "0.0000000001", "foreign", "9" * 400):
        try:
            field.clean(value)
        except forms.ValidationError as error:
            yield from error.messages


@each_case("form", sorted(all_forms(), key=str))
def test_no_field_says_it_in_djangos_words_or_repeats_what_was_sent(form: type[PortalForm]) -> None:
    made = PortalForm()
    made.fields = deepcopy(form.base_fields)
    vars(made)["hidden_field_names"] = form.hidden_field_names
    for name, field in made.fields.items():
        replace_default_messages(field, made.messages_for_field(name, field))
        for sentence in sentences(field):
            assert sentence.strip(), name
            assert not sentence.startswith(DJANGOS), name
            assert len(sentence) < 300, name


def test_every_form_of_the_site_has_these_words() -> None:
    left = [forms.Form]
    ours: set[type] = set()
    while left:
        found = left.pop().__subclasses__()
        ours |= {form for form in found if form.__module__.startswith("dashboard.")}
        left += found
    assert {form for form in ours if not issubclass(form, PortalForm)} == set()


def test_what_is_missing_is_named() -> None:
    assert required_message("plan_id", forms.IntegerField(label="Plan ID")) == "Enter a plan id."
    assert required_message("address", forms.CharField()) == "Enter an address."


@pytest.fixture
def draft(priya: Membership) -> Job:
    account = AccountFactory.create(
        tenant=priya.team.tenant,
        options=OPTIONS,
        costs={"CONTENT_PROMPT_REQUESTED": {"credits": 4}},
    )
    token = TokenFactory.create(account=account, owner=priya.user)
    return JobFactory.create(account=account, token=token, draft__settings=WANTED)


def html_of(answer: Any) -> str:
    return str(answer.content.decode())


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["a page", "a part of it"])
def test_a_foreign_choice_is_not_repeated(
    priya: Membership, draft: Job, client_of: Browser, headers: dict[str, str]
) -> None:
    form = {"type": "foreign" * 10_000, "start": "Ice"}
    html = html_of(client_of(priya).post(reverse("drafts"), form, headers=headers))
    assert "Choose one from the list." in html
    assert "is not one of the available choices" not in html
    assert html.count("foreignforeign") == 0


@pytest.mark.parametrize("name", ["edited_at", "seen"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["a page", "a part of it"])
def test_nul_in_a_hidden_field_ends_in_a_sentence_that_says_what_to_do(
    priya: Membership, draft: Job, client_of: Browser, headers: dict[str, str], name: str
) -> None:
    step = reverse("studio-step", args=[draft.pk, "voice"])
    answer = client_of(priya).post(step, {"voice_id": "7", name: "a\0b"}, headers=headers)
    assert "Reload the page and try again." in html_of(answer)
    draft.refresh_from_db()
    assert draft.draft.settings["voice_id"] == 3


def test_a_retry_says_which_part_of_its_form_is_damaged(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    Job.objects.update(state=JobState.FAILED, remote_id="7")
    Draft.objects.update(estimate=96)
    url = reverse("video-retries", args=[draft.pk])
    whole = {"nonce": "6f1d0f0a-3f0e-4b7e-9c65-2a1f6d7a1c11", "price": "96", "note": ""}
    for bad, said in (
        ({"price": "much"}, "the price in this form is missing or damaged. Reload the page"),
        ({"nonce": ""}, "the form key in this form is missing or damaged. Reload the page"),
        ({"note": "a\0b"}, "Your message contains an invisible character."),
    ):
        assert said in html_of(client_of(priya).post(url, {**whole, **bad}, headers=HTMX))
    assert not Charge.objects.exists()


def test_without_a_price_the_question_before_a_render_holds_none(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = html_of(client_of(priya).get(reverse("studio-renders", args=[draft.pk]), headers=HTMX))
    assert "There is no current price" in html
    assert 'name="price"' not in html


def test_sign_in_names_what_is_missing(client: Client, db: None) -> None:
    html = html_of(client.post(reverse("account_login"), {}))
    assert "Enter your e-mail address." in html
    assert "Enter your password." in html
    assert "This field is required" not in html
