"""The captions of an export reach the service in the shape that it takes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from proxyapi.charges import dispatch_charge
from proxyapi.kinds import KINDS
from proxyapi.models import Charge, ChargeState, Job, JobState
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.sandbox.conftest import READY_SETTINGS

pytestmark = pytest.mark.django_db
EXPORT = "faceless.export"
STYLE = {"font": "mono", "caption_position": "top", "caption_effect": "karaoke"}
CAPTIONS = {"font_family": "mono", "position": "top"}


def make_rendered_video(stage: SandboxAccount, sandbox: InProcessSandbox) -> Job:
    """A video that the service rendered, with its own captions, and the portal knows as such."""
    number = stage.direct.post("faceless", json={"type": "ai-visuals"}).json()["data"]["id"]
    stage.direct.patch(f"faceless/{number}", json=READY_SETTINGS)
    assert stage.direct.post(f"faceless/{number}/render").is_success
    sandbox.clock.advance(600)
    stage.wait_for_status(f"faceless/{number}", "completed")
    token, state = stage.token, JobState.COMPLETED
    job: Job = JobFactory.create(
        account=token.account, token=token, remote_id=str(number), state=state
    )
    return job


@pytest.mark.parametrize("dialect", ["spec", "service-v1"])
def test_an_export_has_the_chosen_captions(
    dialect: str, stage: SandboxAccount, sandbox: InProcessSandbox
) -> None:
    assert stage.control.post("settings", json={"dialect": dialect}).is_success
    job = make_rendered_video(stage, sandbox)
    charge = ChargeFactory.create(job=job, operation=EXPORT, body=STYLE, hold=5, quote=5)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, Decimal(5))
    (made,) = [one for one in sandbox.world.jobs if one.kind == "export"]
    film = made.film.get("film", made.film)
    assert {name: film[name] for name in STYLE} == STYLE


@pytest.mark.parametrize(
    ("shown", "sent_before", "captions"),
    [
        ({"font_family": "serif", "font_color": "#fff"}, {}, {"font_color": "#fff", **CAPTIONS}),
        (None, {}, CAPTIONS),
        ([], {}, CAPTIONS),
        (True, {}, None),
        ("classic", {}, None),
        (False, {}, None),
        (False, {"captions": CAPTIONS}, CAPTIONS),  # a refusal had asked for them so
    ],
)
def test_the_shape_of_captions_is_that_of_the_record(
    shown: object, sent_before: dict[str, Any], captions: object
) -> None:
    job = JobFactory.create(remote_id="7", draft__sent_settings=sent_before)
    charge = ChargeFactory.create(job=job, operation=EXPORT, body=STYLE, before={"captions": shown})
    body = KINDS[job.kind].request_body(Charge.objects.get(pk=charge.pk))
    assert body == (STYLE if captions is None else {**STYLE, "captions": captions})
