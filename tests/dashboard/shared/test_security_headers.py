"""What every answer says to the browser."""

from __future__ import annotations

import pytest
from django.test import Client

UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/healthz", "/nowhere/", "/"])
def test_what_no_page_uses_is_denied_to_all_of_them(client: Client, path: str) -> None:
    said = client.get(path).headers["Permissions-Policy"].split(", ")
    assert {f"{name}=()" for name in UNUSED} <= set(said)
