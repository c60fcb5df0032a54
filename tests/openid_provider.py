"""A real OpenID provider as a process on this machine, and the steps of a person there."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import httpx

START_TIMEOUT_S = 120.0
WAIT_S = 0.1


@dataclass(frozen=True)
class OpenIDProvider:
    """`issuer` is its address. It takes any client ID with any secret, unless it is registered."""

    issuer: str

    def add_person(self, subject: str, **claims: object) -> None:
        """Add a person, or change what is said of them."""
        answer = httpx.put(f"{self.issuer}/users/{quote(subject)}", json=claims, trust_env=False)
        answer.raise_for_status()

    def register_client(self, redirect_uri: str) -> tuple[str, str]:
        """Return the ID and the secret of a new client; its secret is checked."""
        form = {"redirect_uris": [redirect_uri]}
        answer = httpx.post(f"{self.issuer}/oauth2/clients", json=form, trust_env=False)
        answer.raise_for_status()
        client = answer.json()
        return client["client_id"], client["client_secret"]

    def approve(self, url: str, subject: str) -> str:
        """Sign this person in on the page at `url`; return where the browser is sent then."""
        return self.submit(url, {"sub": subject})

    def deny(self, url: str) -> str:
        return self.submit(url, {"action": "deny"})

    def submit(self, url: str, form: dict[str, str]) -> str:
        answer = httpx.post(url, data=form, trust_env=False)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])


@contextmanager
def run_openid_provider() -> Iterator[OpenIDProvider]:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = (sys.executable, "-m", "oidc_provider_mock", "--port", str(port))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            provider = OpenIDProvider(f"http://127.0.0.1:{port}")
            wait_until_answering(provider, process)
            yield provider
        finally:
            process.terminate()
            process.wait(10)


def wait_until_answering(provider: OpenIDProvider, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(f"{provider.issuer}/jwks", trust_env=False).raise_for_status()
        except httpx.HTTPError:
            time.sleep(WAIT_S)
        else:
            return
    raise AssertionError("the OpenID provider does not answer")
