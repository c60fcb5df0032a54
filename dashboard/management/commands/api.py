"""`manage.py api METHOD PATH`: send one request to the portal's API with an API key."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

KEY_VARIABLE = "REELROOM_KEY"
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 10, 900  # the gateway ends each request before
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Command(BaseCommand):
    help = (
        f"Sends one request to /api/v2 with the API key in the variable {KEY_VARIABLE}, and prints "
        "the body of the answer. The exit status is 1 if the answer is an error."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("method", type=str.upper, choices=METHODS, metavar="METHOD")
        parser.add_argument("path", help="such as /faceless/1")
        parser.add_argument("--json", dest="body", help="the body, a JSON object")
        parser.add_argument("--url", help="address of the portal; PORTAL_URL without it")
        parser.add_argument(
            "--idempotency-key", help="sent again with the same key it is carried out once"
        )
        parser.add_argument("--quote", help="of POST /_quotes, which this request spends once")
        parser.add_argument("--wait", type=int, help="seconds to wait for its turn, 20 without it")

    def handle(self, *_: Any, method: str, path: str, body: str | None, **options: Any) -> None:
        headers = request_headers(options["idempotency_key"], options["quote"], options["wait"])
        if not path.startswith("/"):
            raise CommandError("The path begins with a slash, such as /faceless/1.")
        address = f"{(options['url'] or settings.PORTAL_URL).rstrip('/')}/api/v2{path}"
        try:
            with build_client() as client:
                answer = client.request(method, address, headers=headers, json=parse_body(body))
        except httpx.InvalidURL as error:
            raise CommandError(f"{address} is no address: {error}.") from None
        except httpx.HTTPError as error:
            message = f"No answer from {address}: {str(error) or type(error).__name__}."
            raise CommandError(message) from None
        self.stdout.write(answer.text)
        if answer.status_code >= 400:
            sys.exit(1)


def request_headers(
    idempotency_key: str | None, quote: str | None, wait_s: int | None
) -> dict[str, str]:
    """Raises `CommandError` without a key in the environment."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise CommandError(f"Set {KEY_VARIABLE} to an API key of the portal.")
    if not f"{key}{idempotency_key}{quote}".isascii():
        raise CommandError("A key or quote has only ASCII characters; this was mistyped.")
    headers = {"Authorization": f"Bearer {key}"}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    if quote is not None:
        headers["Reelroom-Quote"] = quote
    if wait_s is not None:
        headers["Prefer"] = f"wait={wait_s}"
    return headers


def parse_body(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError(f"--json is not valid JSON: {error}.") from None


def build_client() -> httpx.Client:
    timeout = httpx.Timeout(CONNECT_TIMEOUT_S, read=READ_TIMEOUT_S)
    return httpx.Client(timeout=timeout, trust_env=False)
