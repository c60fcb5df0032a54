"""The session ends while a page is open: the whole page goes to sign-in, and back."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership

AUTOSAVE = "/studio/00000000-0000-4000-8000-000000000001/voice/"
HERE = "http://testserver"


def asked(method: str, page: str | None) -> str:
    """Where htmx is told to redirect the whole window."""
    headers = {"HX-Request": "true", **({"HX-Current-URL": page} if page is not None else {})}
    response = Client().generic(method, AUTOSAVE, headers=headers)
    assert response.status_code == 200
    assert "Location" not in response
    assert not response.content
    return response["HX-Redirect"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_part_of_a_page_takes_the_whole_window_to_sign_in_and_back(method: str) -> None:
    door = reverse("account_login")
    assert asked(method, f"{HERE}/studio/?q=bees&a=1") == f"{door}?next=/studio/%3Fq%3Dbees%26a%3D1"


@pytest.mark.parametrize(
    "page", ["https://elsewhere.example/tokens/", "//elsewhere.example", "javascript:x", "", None]
)
def test_signing_in_leads_to_no_page_of_another_site(page: str | None) -> None:
    assert asked("GET", page) == f"{reverse('account_login')}?next=/"


def test_an_address_with_two_slashes_at_its_start_leads_nowhere_else() -> None:
    assert asked("GET", f"{HERE}//elsewhere.example/") == f"{reverse('account_login')}?next=/"


@pytest.mark.parametrize(
    ("referer", "back"),
    [(f"{HERE}/studio/", "/studio/"), ("https://elsewhere.example/tokens/", "/"), (None, "/")],
)
def test_a_form_that_came_too_late_goes_on_at_the_page_it_stood_on(
    referer: str | None, back: str
) -> None:
    headers = {"Referer": referer} if referer else {}
    response = Client().post("/studio/drafts/", headers=headers)
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('account_login')}?next={back}"


def test_an_address_that_only_takes_a_press_is_said_in_words(mira: Membership) -> None:
    browser = Client()
    browser.force_login(mira.user)
    response = browser.get("/library/selection/hide/")
    html = response.content.decode()
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert "Nothing was sent." in html
    assert mira.team.name in html
    assert 'href="/library/"' in html.partition("</h1>")[2].partition("</main>")[0]
    assert not browser.get("/library/selection/hide/", headers={"HX-Request": "true"}).content
