"""What a person does with a second factor, by forms."""

from __future__ import annotations

import html
import json
import re
import time
from typing import Any

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client
from django.urls import reverse

from tests.dashboard.account.conftest import sign_in
from tests.passkeys import SoftwarePasskey


def totp_code(secret: str, *, steps: int = 0) -> str:
    """The code that an app shows; `steps` of 30 s later or earlier."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps))


def read_key(page: str) -> str:
    """The key of the app on the page of the set-up."""
    found = re.search(r'data-copy="([A-Z2-7 ]+)"', page)
    assert found, "no key on the page"
    return found.group(1).replace(" ", "")


def read_codes(page: str) -> list[str]:
    return re.findall(r"<li>(\d{4}-\d{4})</li>", page)


def turn_on_app(browser: Client) -> tuple[str, list[str]]:
    """The key and the recovery codes."""
    key = read_key(browser.get(reverse("account-app")).content.decode())
    page = browser.post(reverse("account-app"), {"code": totp_code(key, steps=-1)})
    return key, read_codes(page.content.decode())


def enter_code(browser: Client, code: str) -> Any:
    return browser.post(reverse("mfa_authenticate"), {"code": code})


def sign_in_with_code(browser: Client, code: str) -> Any:
    sign_in(browser)
    return enter_code(browser, code)


def read_options(page: str, attribute: str) -> dict[str, Any]:
    """The options for the browser in a data- attribute of a form."""
    found = re.search(f'{attribute}="([^"]+)"', page)
    assert found, f"no {attribute} on the page"
    options: dict[str, Any] = json.loads(html.unescape(found.group(1)))
    return options


def add_passkey(browser: Client, name: str = "MacBook") -> tuple[SoftwarePasskey, Any]:
    passkey = SoftwarePasskey()
    page = browser.get(reverse("passkeys")).content.decode()
    credential = passkey.create(read_options(page, "data-passkey-add"))
    form = {"name": name, "passwordless": "True", "credential": credential}
    return passkey, browser.post(reverse("passkeys"), form)


def sign_in_by_passkey(browser: Client, passkey: SoftwarePasskey, **form: str) -> Any:
    headers = {"Accept": "application/json"}
    options = browser.get(reverse("mfa_login_webauthn"), headers=headers).json()["request_options"]
    credential = passkey.sign(options["publicKey"])
    return browser.post(reverse("mfa_login_webauthn"), {"credential": credential, **form})
