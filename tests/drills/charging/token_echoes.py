"""A service that quotes the token it was sent: wherever it can, in whatever writing.

In a status, a header, a page, a name, an error's code, sentence and fields, an id and an address.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import quote

from django.utils import timezone

from proxyapi import ledger, tokens, top_up
from proxyapi.charges import ChargeIntent
from proxyapi.kinds import faceless_draft
from proxyapi.models import Account, Job, JobKind, JobState, Token, TokenState
from proxyapi.polling.poller import poll_job, refresh_media_url
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors
from tests.proxyapi.money.operations import INTENT_MAKERS, READY_SETTINGS, make_video, path_pattern
from tests.proxyapi.money.operations import make_job as row
from tests.proxyapi.money.sandbox_account import SandboxAccount

# As they stand between the quotes of a JSON text.
WRITINGS: Mapping[str, Callable[[str], str]] = {
    "plain": lambda token: json.dumps(token)[1:-1],
    "JSON": lambda token: "".join(f"\\u{ord(one):04x}" for one in token),
    "address": lambda token: quote(token, safe=""),
    "HTML": lambda token: json.dumps(html.escape(token))[1:-1],
    "base64": lambda token: base64.b64encode(f"Bearer {token}".encode()).decode(),
}
ERROR = (
    '{"message": "No such token: @", "status": 400, "links": {"next": "https://x.example/?t=@"},'
    ' "error": {"code": "@", "message": "@", "required": "@", "details": {"@": "@"}},'
    ' "errors": {"@": ["@"], "title": ["@", "The token @ is wrong."]}}'
)
VIDEO = (
    '{"id": "@", "status": "@", "url": "https://films.example/1.mp4?token=@",'
    ' "failure": {"code": "@", "message": "The token @ failed."}}'
)
RECORD = (
    f'{{"message": "@", "status": 200, "data": {{"id": "@", "title": "@", "script": "@ @",'
    f' "status": "@", "name": "@", "email": "@", "cost": "@", "video": {VIDEO}, "asset": {VIDEO},'
    f' "mandatory": {{"voices": [{{"id": "@", "name": "@"}}]}}, "@": "@", "credits": {{"cost": 7}},'
    f' "subscription": {{"plan": "@", "active": true}}}}, "meta": {{"credits": {{"cost": "@"}}}}}}'
)
FAILED, COMPLETED = (
    RECORD.replace('"status": "@"', f'"status": "{word}"') for word in ("failed", "completed")
)
ENTRIES = (
    '{"data": [{"label": "@", "content_type": "@", "credit_spend": "-7", "transaction_type": "@",'
    ' "created_at": "2026-01-01T00:00:00Z"}, "@"], "meta": {"total": 2, "current_page": 1}}'
)
REFUSED = (400, 401, 402, 403, 404, 409, 418, 422, 429, 500, 502)
CHARGED = (200, 202)
MOVED = (301, 302, 307)


def encode_token(text: str, token: str, way: str) -> str:
    return text.replace("@", WRITINGS[way](token))


def echo_headers(token: str) -> dict[str, str]:
    """Those that somebody reads, and those that nobody does."""
    return {
        "Location": f"https://elsewhere.example/{quote(token)}?token={token}",
        "Retry-After": "1",
        "Content-Type": f"text/{token}",
        "X-RateLimit-Reset": token,
        "Date": token,
        "Allow": f"GET, {token}",
        "WWW-Authenticate": f'Bearer error="{token}"',
        "Set-Cookie": f"token={token}",
    }


def order_charge_echoes(
    stage: SandboxAccount, token: str, operation: str, turn: int
) -> Iterator[ChargeIntent]:
    """Intents for whose calls such an answer is ordered, half of them for each token."""
    ways = list(WRITINGS)
    for number, code in list(enumerate((*REFUSED, *CHARGED, *MOVED)))[turn % 2 :: 2]:
        text = RECORD if code in CHARGED else ERROR
        body = encode_token(text, token, ways[(number + turn) % len(ways)])
        intent = INTENT_MAKERS[operation](stage)  # first, for making it ready may ask for the same
        stage.set_fault(
            path_pattern(operation), "status", code=code, body=body, headers=echo_headers(token)
        )
        yield intent
        stage.clear_faults()
        Token.objects.filter(pk=stage.token.pk).update(state=TokenState.WORKING)
        stage.token.refresh_from_db()


def order_read_echoes(stage: SandboxAccount, token: str, way: str) -> int:
    """Everything that is read without a charge, answered like this; how many answers."""
    running, failing, done = (running_video(stage) for _ in range(3))
    draft = make_video(stage, "ai-visuals")
    account = Account.objects.get(pk=stage.token.account_id)
    deeds: list[tuple[str, str, Callable[[], object]]] = [
        ("faceless.get", RECORD, lambda: poll_job(running.pk)),
        ("faceless.get", FAILED, lambda: poll_job(failing.pk)),
        ("faceless.get", COMPLETED, lambda: poll_job(done.pk)),
        ("faceless.get", COMPLETED, lambda: refresh_media_url(done)),
        ("faceless.estimate", RECORD, lambda: faceless_draft.quote_draft(draft)),
        ("me.get", RECORD, lambda: refresh_account(account)),
        ("credits.costs", RECORD, lambda: refresh_account(account)),
        ("faceless.options", RECORD, lambda: refresh_account(account)),
        ("credits.history", ENTRIES, lambda: ledger.mirror_entries(account, Priority.PERSON, 5)),
        ("top_up.get", RECORD, lambda: top_up.refresh_preference(account)),
    ]
    for operation, good, deed in deeds:
        for code, text in ((403, ERROR), (500, ERROR), (200, good)):
            body = encode_token(text, token, way)
            stage.set_fault(
                path_pattern(operation), "status", code=code, body=body, headers=echo_headers(token)
            )
            with suppress(errors.UpstreamError, RateLimitExhausted):
                deed()
            stage.clear_faults()
            Token.objects.filter(pk=stage.token.pk).update(state=TokenState.WORKING)
            running.account.jobs.filter(state=JobState.RUNNING).update(next_poll_at=timezone.now())
    return 3 * len(deeds)


def running_video(stage: SandboxAccount) -> Job:
    made = stage.response_data("POST", "/faceless", json={"type": "ai-visuals", "title": "Tides"})
    fields = {
        "started_at": timezone.now(),
        "next_poll_at": timezone.now(),
        "draft__settings": READY_SETTINGS,
    }
    return row(stage, JobKind.FACELESS, str(made["id"]), JobState.RUNNING, **fields)


def refresh_account(account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(refreshed_at=None)
    tokens.refresh_account_profile(account)
