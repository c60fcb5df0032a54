"""What every answer says to the browser, and which requests are refused for how they come."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership
from tests.dashboard.shared.routes import ROUTES

UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture")
PATHS = ["/accounts/login/", "/healthz", "/nowhere/", "/", "/join/guess/"]
CLOSED = ("default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'")


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_what_no_page_uses_is_denied_to_all_of_them(client: Client, path: str) -> None:
    said = client.get(path).headers["Permissions-Policy"].split(", ")
    assert {f"{name}=()" for name in UNUSED} <= set(said)


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_only_scripts_and_styles_of_this_site_are_loaded_and_no_site_frames_it(
    client: Client, path: str
) -> None:
    response = client.get(path)
    policy = response.headers["Content-Security-Policy"].split("; ")
    assert set(CLOSED) <= set(policy)
    assert "script-src 'self'" in policy
    assert "unsafe" not in response.headers["Content-Security-Policy"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_no_answer_is_guessed_at_or_told_to_another_site(client: Client, path: str) -> None:
    headers = client.get(path, headers={"Origin": "https://elsewhere.example"}).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Content-Type"] in ("text/html; charset=utf-8", "text/plain")


def test_no_form_is_taken_without_its_token_or_from_another_site(mira: Membership) -> None:
    """Cross-site request forgery, for each route that takes a form."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(mira.user)
    browser.get("/members/")
    token = browser.cookies["csrftoken"].value
    elsewhere = {"Origin": "https://elsewhere.example", "X-CSRFToken": token}
    plain = [name for name, route in ROUTES.items() if route.post and not route.of]
    assert len(plain) > 40
    for name in plain:
        kwargs = {"step": "voice"} if name == "studio-step" else {}
        url = reverse(name, kwargs=kwargs)
        assert browser.post(url).status_code == 403, name
        assert browser.post(url, headers=elsewhere).status_code == 403, name


@pytest.mark.parametrize("method", ["trace", "put", "delete", "patch"])
def test_other_methods_than_a_page_and_a_form_are_refused(method: str, mira: Membership) -> None:
    browser = Client()
    browser.force_login(mira.user)
    for name in ("members", "library", "security", "tokens"):
        assert getattr(browser, method)(reverse(name)).status_code in (403, 405), name
