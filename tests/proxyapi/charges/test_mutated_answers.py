"""No mutated answer of 2xx to a charging operation breaks its sending, or is taken for a refusal.

Proof B6: who answered 2xx may have charged. What it cost, `meta.credits.cost` says or the ledger.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings

from proxyapi.charges import ChargeIntent, admit_charge, dispatch_charge
from proxyapi.models import Charge, Job, Token, Upload
from proxyapi.upstream.catalog import CATALOG
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.proxyapi import spec_says
from tests.proxyapi.charges.conftest import SETTINGS, video
from tests.proxyapi.mutated import EXAMPLES, SENT, Mutated, answers
from tests.proxyapi.upstream_script import Upstream, answer, charged
from tests.stores import empty_stores

pytestmark = pytest.mark.django_db
MANY = settings(
    max_examples=max(2, EXAMPLES // SENT),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CREDITS = {"credits": {"cost": 4, "remaining": 900}}


class Deed(NamedTuple):
    """A charging operation as it is asked for, and the `data` of a true answer to it."""

    operation: str
    method: str
    path: str
    data: Any
    kind: str | None = "faceless"
    state: str = "draft"
    field: str = ""  # of a file that goes with it


SCRIPT = {**video("draft"), "script": "Ice flows."}
BOARD = {"id": 7, "scenes": [{"id": 1}], "video": {"status": "rendering"}}
ASSET = {"asset": {"id": 88, "status": "draft", "url": None}}
CLONE = {"id": 5, "status": "pending", "preview_url": None}
DEEDS = (
    Deed("faceless.scripts", "PUT", "/faceless/7/scripts", SCRIPT),
    Deed("faceless.render", "POST", "/faceless/7/render", video("rendering")),
    Deed("faceless.retry", "POST", "/faceless/7/retry", video("rendering"), state="failed"),
    Deed("faceless.export", "POST", "/faceless/7/export", video("completed"), state="completed"),
    Deed("faceless.scrape_script", "POST", "/faceless/7/scrape-script", SCRIPT),
    Deed("b_roll.scripts", "PUT", "/b-roll/7/scripts", SCRIPT),
    Deed("b_roll.render", "POST", "/b-roll/7/render", video("rendering")),
    Deed("ai_visuals.scripts", "PUT", "/ai-visuals/7/scripts", SCRIPT),
    Deed("ai_visuals.render", "POST", "/ai-visuals/7/render", video("rendering")),
    Deed("ai_visuals.upload", "POST", "/ai-visuals/7/assets/upload", {"id": 3}, field="file"),
    Deed("ai_visuals.regenerate", "POST", "/ai-visuals/7/assets/3/regenerate", {"id": 3}),
    Deed("url_to_video.scrape_script", "POST", "/url-to-video/7/scrape-script", SCRIPT),
    Deed("url_to_video.scripts", "PUT", "/url-to-video/7/scripts", SCRIPT),
    Deed("url_to_video.render", "POST", "/url-to-video/7/render", video("rendering")),
    Deed("text_to_video.create", "POST", "/text-to-video", ASSET, "clip"),
    Deed("text_to_scene.prompt", "POST", "/text-to-scene/7/prompt", BOARD, "storyboard"),
    Deed("text_to_scene.clips", "POST", "/text-to-scene/7/clips", BOARD, "storyboard"),
    Deed("text_to_scene.render", "POST", "/text-to-scene/7/render", BOARD, "storyboard"),
    Deed("voice_clones.create", "POST", "/voice-clones", CLONE, "clone", field="samples[]"),
    Deed("ideas.discover", "POST", "/ideas/discover", [{"id": 3, "title": "Tides"}], None),
    Deed("characters.preview", "POST", "/characters/7/preview", {"previews": [{}]}, "character"),
    Deed("characters.train", "POST", "/characters/7/train", {"id": 7}, "character"),
)
CREATES = ("text_to_video.create", "voice_clones.create")


def test_no_charging_operation_is_left_out() -> None:
    assert {deed.operation for deed in DEEDS} == {
        row.name for row in CATALOG.values() if row.charging
    }


@pytest.fixture
def token(db: None) -> Token:
    return TokenFactory.create(account=AccountFactory.create(balance=Decimal(1000)))


@pytest.fixture
def reads(upstream: Upstream) -> Upstream:
    """What is read before a charging operation, as the service shows it."""
    upstream.on("GET", "/text-to-scene/7", answer({"id": 7, "video": {"status": "draft"}}))
    upstream.on("GET", "/voice-clones/slots", answer({"available": 1, "can_buy": True, "cost": 4}))
    upstream.on("GET", "/ideas", answer([]))
    upstream.on("GET", "/characters/7", answer({"id": 7, "status": "draft"}))
    return upstream


def job_of(deed: Deed, token: Token) -> Job | None:
    if deed.kind is None:
        return None
    rows = {"token": token, "account": token.account, "wanted": SETTINGS, "sent": SETTINGS}
    remote = None if deed.operation in CREATES else "7"
    return JobFactory.create(kind=deed.kind, state=deed.state, remote_id=remote, **rows)


def sent(deed: Deed, job: Job | None, token: Token) -> Charge:
    path = {"asset": "3"} if "/assets/3/" in deed.path else {}
    body = {} if deed.operation == "faceless.retry" else {"name": "Thea"}
    file = Upload(field=deed.field, name="a", content_type="image/png", content=b"PNG")
    charge = admit_charge(
        ChargeIntent(
            job, token.owner_id, deed.operation, uuid.uuid4(), Decimal(4), Decimal(4), body,
            token=None if job else token, path=path, uploads=(file,) if deed.field else (),
        )
    )  # fmt: skip
    dispatch_charge(charge.pk)
    return Charge.objects.select_related("account", "job").get(pk=charge.pk)


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.operation)
def test_b6_a_mutated_answer_to_a_charge_confirms_it_or_leaves_it_unknown(
    deed: Deed, token: Token, reads: Upstream
) -> None:
    job = job_of(deed, token)
    reads.on("GET", "/faceless/7", answer(video(deed.state)))

    @MANY
    @given(answers(deed.data, CREDITS))
    def each(answered: Mutated) -> None:
        with transaction.atomic():
            empty_stores()
            reads.requests.clear()
            reads.on(deed.method, deed.path, answered.response)
            charge = sent(deed, job, token)
            judge(deed, charge, answered)
            assert sum(request.method != "GET" for request in reads.requests) == 1
            transaction.set_rollback(True)

    each()


@pytest.mark.parametrize("operation", CREATES)
def test_b6_an_answer_that_names_what_another_job_is_already_is_read_back(
    operation: str, token: Token, reads: Upstream
) -> None:
    deed = next(deed for deed in DEEDS if deed.operation == operation)
    named = deed.data.get("asset", deed.data)["id"]
    rows = {"token": token, "account": token.account, "kind": deed.kind}
    JobFactory.create(remote_id=str(named), **rows)
    reads.on(deed.method, deed.path, charged(deed.data, 4))
    charge = sent(deed, job_of(deed, token), token)
    assert (charge.state, charge.cost) == ("unknown", None)
    assert charge.job and charge.job.remote_id is None


def judge(deed: Deed, charge: Charge, answered: Mutated) -> None:
    assert charge.state in ("confirmed", "unknown")
    is_told = charge.state == "confirmed"
    assert charge.account.held_credits() == (0 if is_told else charge.hold)
    assert charge.cost == (spec_says.cost(answered.top) if is_told else None)
    if is_told and charge.job and deed.operation in CREATES:
        assert charge.job.remote_id
    if is_told and charge.job and deed.data is SCRIPT:
        assert charge.job.wanted["script"] == spec_says.at(answered.top, "data", "script")
    if answered.is_plain and deed.operation not in CREATES and deed.data is not SCRIPT:
        assert is_told, "what it shows is not asked for, and its cost is told"
