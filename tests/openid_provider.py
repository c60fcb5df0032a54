"""A real OpenID provider as a process on this machine, and the steps of a person there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import httpx

from proxyapi.upstream.tls import shared_ssl_context
from tests.servers import find_unused_port, wait_until_ready

# Not one for each request: its certificates would be loaded each time.
http = httpx.Client(trust_env=False, verify=shared_ssl_context())


@dataclass(frozen=True)
class OpenIDProvider:
    """`issuer` is its address. It takes any client ID with any secret, unless it is registered."""

    issuer: str

    def check(self) -> None:
        """Raise `httpx.HTTPError` while it does not answer."""
        http.get(f"{self.issuer}/jwks").raise_for_status()

    def add_person(self, subject: str, **claims: object) -> None:
        """Add a person, or change what is said of them."""
        answer = http.put(f"{self.issuer}/users/{quote(subject)}", json=claims)
        answer.raise_for_status()

    def register_client(self, redirect_uri: str) -> tuple[str, str]:
        """Return the ID and the secret of a new client; its secret is checked."""
        form = {"redirect_uris": [redirect_uri]}
        answer = http.post(f"{self.issuer}/oauth2/clients", json=form)
        answer.raise_for_status()
        client = answer.json()
        return client["client_id"], client["client_secret"]

    def approve(self, url: str, subject: str) -> str:
        """Sign this person in on the page at `url`; return where the browser is sent then."""
        return self.submit(url, {"sub": subject})

    def deny(self, url: str) -> str:
        return self.submit(url, {"action": "deny"})

    def submit(self, url: str, form: dict[str, str]) -> str:
        answer = http.post(url, data=form)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])


@contextmanager
def run_openid_provider() -> Iterator[OpenIDProvider]:
    port = find_unused_port()
    command = (sys.executable, "-m", "oidc_provider_mock", "--port", str(port))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            provider = OpenIDProvider(f"http://127.0.0.1:{port}")
            wait_until_ready(process, provider.check, httpx.HTTPError)
            yield provider
        finally:
            process.terminate()
            process.wait()
