"""No mutated answer of 2xx to a charging operation breaks its sending, or is taken for a refusal.

Who answered 2xx may have charged. What it cost, `meta.credits.cost` says or the ledger.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings

from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge
from proxyapi.models import Charge, Job, Token, Upload
from proxyapi.operations import OPERATIONS
from tests.admission import admit_charge
from tests.examples import WITHOUT_SHRINKING, examples
from tests.external_state import empty_external_state
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.proxyapi import spec_oracle
from tests.proxyapi.charges.conftest import SETTINGS, video_response
from tests.proxyapi.mutated_responses import (
    EXAMPLES,
    MutatedResponse,
    count_dispatch_examples,
    mutated_responses,
)
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

pytestmark = pytest.mark.django_db
MANY = settings(
    max_examples=count_dispatch_examples(EXAMPLES),
    phases=WITHOUT_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CREDITS = {"credits": {"cost": 4, "remaining": 900}}
LEDGER = ("GET", "/credits/history")
BOOKED = {"label": "Render", "content_type": "video", "transaction_type": "Debit"}
BOOKED |= {"credit_spend": "-4", "created_at": "2026-11-20T12:00:00Z"}
LEDGERS = mutated_responses([BOOKED], {"current_page": 1, "per_page": 50, "total": 1})


class ChargingCase(NamedTuple):
    """A charging operation as it is asked for, and the `data` of a true answer to it."""

    operation: str
    method: str
    path: str
    data: Any
    kind: str | None = "faceless"
    state: str = "draft"
    field: str = ""  # of a file that goes with it


SCRIPT = {**video_response("draft"), "script": "Ice flows."}
BOARD = {"id": 7, "scenes": [{"id": 1}], "video": {"status": "rendering"}}
WRITTEN = {**BOARD, "scenes": [{"id": 1, "raw_video_prompt": "A boat", "duration": 5}]}
ASSET = {"asset": {"id": 88, "status": "draft", "url": None}}
CLONE = {"id": 5, "status": "pending", "preview_url": None}
DEEDS = (
    ChargingCase("faceless.scripts", "PUT", "/faceless/7/scripts", SCRIPT),
    ChargingCase("faceless.render", "POST", "/faceless/7/render", video_response("rendering")),
    ChargingCase(
        "faceless.retry", "POST", "/faceless/7/retry", video_response("rendering"), state="failed"
    ),
    ChargingCase(
        "faceless.export",
        "POST",
        "/faceless/7/export",
        video_response("completed"),
        state="completed",
    ),
    ChargingCase("faceless.scrape_script", "POST", "/faceless/7/scrape-script", SCRIPT),
    ChargingCase("b_roll.scripts", "PUT", "/b-roll/7/scripts", SCRIPT),
    ChargingCase("b_roll.render", "POST", "/b-roll/7/render", video_response("rendering")),
    ChargingCase("ai_visuals.scripts", "PUT", "/ai-visuals/7/scripts", SCRIPT),
    ChargingCase("ai_visuals.render", "POST", "/ai-visuals/7/render", video_response("rendering")),
    ChargingCase(
        "ai_visuals.upload", "POST", "/ai-visuals/7/assets/upload", {"id": 3}, field="file"
    ),
    ChargingCase("ai_visuals.regenerate", "POST", "/ai-visuals/7/assets/3/regenerate", {"id": 3}),
    ChargingCase("url_to_video.scrape_script", "POST", "/url-to-video/7/scrape-script", SCRIPT),
    ChargingCase("url_to_video.scripts", "PUT", "/url-to-video/7/scripts", SCRIPT),
    ChargingCase(
        "url_to_video.render", "POST", "/url-to-video/7/render", video_response("rendering")
    ),
    ChargingCase("text_to_video.create", "POST", "/text-to-video", ASSET, "clip"),
    ChargingCase("text_to_scene.prompt", "POST", "/text-to-scene/7/prompt", WRITTEN, "storyboard"),
    ChargingCase("text_to_scene.clips", "POST", "/text-to-scene/7/clips", BOARD, "storyboard"),
    ChargingCase("text_to_scene.render", "POST", "/text-to-scene/7/render", BOARD, "storyboard"),
    ChargingCase("voice_clones.create", "POST", "/voice-clones", CLONE, "clone", field="samples[]"),
    ChargingCase("ideas.discover", "POST", "/ideas/discover", [{"id": 3, "title": "Tides"}], None),
    ChargingCase(
        "characters.preview", "POST", "/characters/7/preview", {"previews": [{}]}, "character"
    ),
    ChargingCase("characters.train", "POST", "/characters/7/train", {"id": 7}, "character"),
)
CREATES = ("text_to_video.create", "voice_clones.create")
# Each answer once, on the first operation that gives it: the same code reads it for the others.
DEED_OF_EACH_ANSWER = tuple({str(deed.data): deed for deed in reversed(DEEDS)}.values())


def test_no_charging_operation_is_left_out() -> None:
    assert {deed.operation for deed in DEEDS} == {
        row.name for row in OPERATIONS.values() if row.charging
    }


@pytest.fixture
def token(db: None) -> Token:
    return TokenFactory.create(account=AccountFactory.create(balance=Decimal(1000)))


@pytest.fixture
def reads(upstream: ScriptedUpstream) -> ScriptedUpstream:
    """What is read before a charging operation, as the service shows it."""
    upstream.respond(
        "GET", "/text-to-scene/7", make_response({"id": 7, "video": {"status": "draft"}})
    )
    upstream.respond(
        "GET", "/voice-clones/slots", make_response({"available": 1, "can_buy": True, "cost": 4})
    )
    upstream.respond("GET", "/ideas", make_response([]))
    upstream.respond("GET", "/text-to-scene/7/estimate", make_response({"cost": 4}))
    upstream.respond("GET", "/characters/7", make_response({"id": 7, "status": "draft"}))
    return upstream


def job_of(deed: ChargingCase, token: Token) -> Job | None:
    if deed.kind is None:
        return None
    rows: dict[str, Any] = {"token": token, "account": token.account}
    rows |= {"draft__settings": SETTINGS, "draft__sent_settings": SETTINGS}
    remote = None if deed.operation in CREATES else "7"
    return JobFactory.create(kind=deed.kind, state=deed.state, remote_id=remote, **rows)


def sent(deed: ChargingCase, job: Job | None, token: Token) -> Charge:
    path = {"asset": "3"} if "/assets/3/" in deed.path else {}
    body = {} if deed.operation == "faceless.retry" else {"name": "Thea"}
    file = Upload(field=deed.field, name="a", content_type="image/png", content=b"PNG")
    charge = admit_charge(
        ChargeIntent(
            job, deed.operation, uuid.uuid4(), Decimal(4), Decimal(4), body,
            token=None if job else token, path=path, uploads=(file,) if deed.field else (),
        )
    )  # fmt: skip
    dispatch_charge(charge.pk)
    return Charge.objects.select_related("account", "job").get(pk=charge.pk)


@pytest.mark.parametrize(
    "deed", examples(DEED_OF_EACH_ANSWER, DEEDS), ids=lambda deed: deed.operation
)
def test_a_mutated_answer_to_a_charge_confirms_it_or_leaves_it_unknown(
    deed: ChargingCase, token: Token, reads: ScriptedUpstream
) -> None:
    job = job_of(deed, token)
    reads.respond("GET", "/faceless/7", make_response(video_response(deed.state)))

    @MANY
    @given(mutated_responses(deed.data, CREDITS), mutated_responses(deed.data), LEDGERS)
    def each(answered: MutatedResponse, read: MutatedResponse, book: MutatedResponse) -> None:
        with transaction.atomic():
            empty_external_state()
            reads.requests.clear()
            reads.respond(deed.method, deed.path, answered.response)
            charge = sent(deed, job, token)
            judge(deed, charge, answered)
            read_back(charge, reads, read, book)
            assert sum(request.method != "GET" for request in reads.requests) == 1
            transaction.set_rollback(True)

    each()


def read_back(
    charge: Charge, reads: ScriptedUpstream, read: MutatedResponse, book: MutatedResponse
) -> None:
    """Resource and ledger show anything: the charge is settled or stays, and is not sent again."""
    shown = {place: list(answers) for place, answers in reads.script.items()}
    for place in shown:
        reads.respond(*place, read.response)
    reads.respond(*LEDGER, book.response)
    Charge.objects.filter(pk=charge.pk).update(sent_at=timezone.now() - timedelta(seconds=40))
    reconcile_charge(charge.pk)
    dispatch_charge(charge.pk)
    before, state = charge.state, Charge.objects.get(pk=charge.pk).state
    assert state == before if before == "confirmed" else state in ("unknown", "matched", "refused")
    reads.script = shown


@pytest.mark.parametrize("operation", CREATES)
def test_an_answer_that_names_what_another_job_is_already_is_read_back(
    operation: str, token: Token, reads: ScriptedUpstream
) -> None:
    deed = next(deed for deed in DEEDS if deed.operation == operation)
    named = deed.data.get("asset", deed.data)["id"]
    rows = {"token": token, "account": token.account, "kind": deed.kind}
    JobFactory.create(remote_id=str(named), **rows)
    reads.respond(deed.method, deed.path, charged_response(deed.data, 4))
    charge = sent(deed, job_of(deed, token), token)
    assert (charge.state, charge.cost) == ("unknown", None)
    assert charge.job and charge.job.remote_id is None


def is_text_awaited(deed: ChargingCase) -> bool:
    """Whether an answer without the text that was paid for is read back."""
    return deed.data is SCRIPT or deed.data is WRITTEN


def judge(deed: ChargingCase, charge: Charge, answered: MutatedResponse) -> None:
    assert charge.state in ("confirmed", "unknown")
    is_told = charge.state == "confirmed"
    assert charge.account.held_credits() == (0 if is_told else charge.hold)
    cost = spec_oracle.reported_cost(answered.top)
    price = charge.price if cost is None else cost  # without a cost it is settled at its price
    assert charge.cost == (price if is_told else None)
    if is_told and charge.job and deed.operation in CREATES:
        assert charge.job.remote_id
    if is_told and charge.job and deed.data is SCRIPT:
        assert charge.job.draft.settings["script"] == spec_oracle.value_at(
            answered.top, "data", "script"
        )
    id = spec_oracle.value_at(answered.top, "data", "id")
    is_own = not spec_oracle.is_id(id) or id == spec_oracle.value_at(deed.data, "id")
    if answered.is_plain and is_own and deed.operation not in CREATES and not is_text_awaited(deed):
        assert is_told, "what it shows is not asked for, and its cost is told"
