"""Batches of scripts: dry run and start, in the name of a key and within its limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from dashboard.batches import actions
from dashboard.batches.table_file import read_table
from dashboard.models import Batch, BatchState, Membership, Role
from dashboard.shared.member_token import require_member_token
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.models import Charge, GatewayRequest, Job, KeyScope, StoredAnswer, Token
from tests.dashboard.batches import conftest as batches
from tests.dashboard.batches.conftest import advance, end_script, jobs_of, render_all, states
from tests.factories import PresetFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.gateway.test_reports import check_shape

account, token, history = batches.account, batches.token, batches.history  # the fixtures
MakeScript = Callable[..., Script]
pytestmark = pytest.mark.usefixtures("history")


def topics(count: int) -> list[dict[str, Any]]:
    return [
        {"title": f"Lake {number}", "topic": f"What is lake {number}?"}
        for number in range(1, count + 1)
    ]


def make(script: Script, *rows: dict[str, Any], **fields: Any) -> httpx.Response:
    headers = fields.pop("headers", {})
    body = {"rows": list(rows) or topics(3), "name": "Lakes", **fields}
    headers |= {"Content-Type": "application/json"}  # httpx writes no half of a surrogate pair
    return script.call("POST", "/_batches", content=json.dumps(body), headers=headers)


def facts(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code < 300, answer.text
    check_shape("Batch", answer.json())
    return dict(answer.json()["data"])


def act(script: Script, batch: str, action: str, **fields: Any) -> httpx.Response:
    return script.call("POST", f"/_batches/{batch}/{action}", json=fields)


def test_the_answer_is_the_dry_run_and_nothing_is_sent(script: Script) -> None:
    """Each film may cost 4 for its script, and 127 for its render."""
    known = facts(make(script))
    assert (known["state"], known["counts"], known["max_credits"]) == ("draft", {"ready": 3}, "393")
    assert known["price"] == {"low": "276", "usual": "300", "high": "312", "limit": "393"}
    assert known["balance_after"] == "3925"
    assert known["finish_at"]
    assert [row["title"] for row in known["rows"]] == ["Lake 1", "Lake 2", "Lake 3"]
    assert facts(script.call("GET", f"/_batches/{known['batch']}"))["rows"] == known["rows"]
    assert not Charge.objects.filter(api_key__isnull=False).exists()
    log = GatewayRequest.objects.values_list("operation", "path", "status")
    assert set(log) == {
        ("_batches", "/_batches", 201),
        ("_batches", f"/_batches/{known['batch']}", 200),
    }


def test_what_is_wrong_with_a_cell_is_said_of_it(script: Script) -> None:
    wrong = {"topic": "Fog", "voice": "Marenn"}
    known = facts(make(script, *topics(1), wrong, {"title": "Empty"}))
    assert known["counts"] == {"ready": 1, "problem": 2}
    (of_voice,), (of_text,) = (row["problems"] for row in known["rows"][1:])
    assert (of_voice["column"], of_voice["suggestion"]) == ("voice", "Maren")
    assert of_text == {
        "column": "topic",
        "message": "A topic, a script or a link is required.",
        "suggestion": None,
    }


def test_its_charges_are_those_of_the_key(make_script: MakeScript, priya: Membership) -> None:
    script = make_script(job_label="Nightly", monthly_limit=Decimal(500))
    known = facts(make(script))
    started = act(script, known["batch"], "start", max_credits=known["max_credits"])
    assert (started.status_code, facts(started)["state"]) == (200, "running")
    batch = Batch.objects.get()
    render_all(batch)
    assert states(batch) == ["done"] * 3
    charges = Charge.objects.filter(job__batch_row__batch=batch)
    assert set(charges.values_list("api_key", "member")) == {(script.key.pk, priya.user_id)}
    assert charges.count() == 6
    for job in jobs_of(batch):
        assert job.api_key == script.key
        assert {label.name for label in job.labels.all()} == {"Lakes", "Nightly"}
    known = facts(script.call("GET", f"/_batches/{batch.pk}"))
    assert (known["spent"], known["held"], known["left"]) == ("300", "0", "93")
    assert {row["state"] for row in known["rows"]} == {"done"}
    assert sum(Decimal(row["spent"]) for row in known["rows"]) == 300
    left = make(script, {"title": "One", "topic": "More"})
    assert facts(left)["credits_left"] == "74"  # 500 - 300 - 126, by what these cost


def test_a_start_that_is_repeated_starts_once(script: Script) -> None:
    known = facts(make(script))
    wanted = {"max_credits": 393, "version": known["version"]}
    answers = script.at_once(4, "POST", f"/_batches/{known['batch']}/start", json=wanted)
    assert {facts(answer)["state"] for answer in answers} == {"running"}
    batch = advance(Batch.objects.get())
    assert states(batch) == ["begun", "begun", "waiting"]


def test_one_request_makes_and_starts_it_once_for_each_idempotency_key(script: Script) -> None:
    wanted: dict[str, Any] = {
        "start": True,
        "max_credits": 393,
        "headers": {"Idempotency-Key": "monday"},
    }
    first, again = make(script, **wanted), make(script, **wanted)
    assert facts(first)["state"] == "running"
    assert (again.headers["idempotent-replayed"], again.content) == ("true", first.content)
    other = make(script, *topics(2), **wanted)
    assert other.json()["error"]["code"] == "IDEMPOTENCY-KEY-REUSED"
    assert Batch.objects.count() == 1


def test_a_request_whose_answer_was_not_kept_finds_its_batch(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that began it was killed after the batch was stored and started."""
    wanted: dict[str, Any] = {
        "start": True,
        "max_credits": 393,
        "headers": {"Idempotency-Key": "monday"},
    }
    monkeypatch.setattr("proxyapi.gateway.idempotency.keep_answer", lambda *answer: None)
    make(script, **wanted)
    StoredAnswer.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert facts(make(script, **wanted))["state"] == "running"
    assert Batch.objects.count() == 1


@pytest.mark.parametrize(
    ("rows", "fields", "sentence"),
    [
        ([*topics(2), {"title": "Empty"}], {"max_credits": 393}, "1 of 3 rows are not ready"),
        (topics(3), {"max_credits": 299}, "usually cost 300 cr, which is above max_credits"),
    ],
)
def test_what_cannot_be_made_whole_is_neither_started_nor_stored(
    script: Script, rows: list[dict[str, Any]], fields: dict[str, Any], sentence: str
) -> None:
    refused = make(script, *rows, start=True, **fields)
    assert refused.status_code == 409
    error = refused.json()["error"]
    assert error["code"] == "BATCH-NOT-STARTED"
    assert sentence in refused.json()["message"]
    assert [row["state"] for row in error["batch"]["rows"]][:2] == ["ready", "ready"]
    assert not Batch.objects.exists()


def test_a_dry_run_that_has_changed_is_not_started(script: Script) -> None:
    known = facts(make(script))
    refused = act(script, known["batch"], "start", max_credits=393, version="of another")
    assert refused.json()["error"]["code"] == "BATCH-NOT-STARTED"
    assert Batch.objects.get().is_draft


def test_a_lower_limit_is_held(script: Script) -> None:
    """200 credits do for two of two films as they usually cost, one after the other."""
    known = facts(make(script, *topics(2), at_once=1))
    assert facts(act(script, known["batch"], "start", max_credits=231))["max_credits"] == "231"
    batch = Batch.objects.get()
    render_all(batch)
    assert states(batch) == ["done", "done"]


def test_above_the_limit_of_one_charge_a_person_is_asked(
    make_script: MakeScript, priya: Membership
) -> None:
    script = make_script(charge_limit=Decimal(300))
    known = facts(make(script))
    assert known["approval_required"] is True
    for _ in range(2):
        asked = act(script, known["batch"], "start", max_credits=393)
        assert asked.status_code == 202
        assert facts(asked)["approval_url"] == known["url"]
    batch = Batch.objects.get()
    assert batch.is_draft
    batches.start(priya, batch)  # the person answers for it: the key's limits are not theirs
    render_all(batch)
    assert states(batch) == ["done"] * 3
    assert set(Charge.objects.filter(job__batch_row__batch=batch).values_list("api_key")) == {
        (None,)
    }


def test_above_the_second_person_rule_a_person_is_asked(script: Script, priya: Membership) -> None:
    priya.team.second_person_above = Decimal(200)
    priya.team.save()
    answer = make(script, start=True, max_credits=393)
    assert (answer.status_code, facts(answer)["state"]) == (202, "draft")
    assert Batch.objects.get().approval_requested_at


def test_an_allowance_that_does_not_do_refuses_it(make_script: MakeScript) -> None:
    script = make_script(allowance=Decimal(350))
    refused = make(script, start=True, max_credits=393)
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "ALLOWANCE-USED-UP")
    assert not Batch.objects.exists()


def test_it_pauses_where_others_have_used_up_the_allowance(make_script: MakeScript) -> None:
    script = make_script(allowance=Decimal(270))
    known = [facts(make(script, *topics(2))), facts(make(script, {"topic": "Fog"}, name="B"))]
    for one in known:
        assert facts(act(script, one["batch"], "start", max_credits=one["max_credits"]))
    first, second = (Batch.objects.get(pk=one["batch"]) for one in known)
    render_all(first)
    second = advance(second)
    assert states(first) == ["done"] * 2
    assert (states(second), second.state) == (["waiting"], BatchState.PAUSED)
    assert "70 are left of the allowance" in second.pause_reason
    third = facts(make(script, {"topic": "Ice"}, name="C"))
    refused = act(script, third["batch"], "start", max_credits=131)
    assert refused.json()["error"]["code"] == "ALLOWANCE-USED-UP"


@pytest.mark.parametrize("change", [{"paused_at": timezone.now()}, {"revoked_at": timezone.now()}])
def test_a_key_that_ends_sends_no_further_row(script: Script, change: dict[str, Any]) -> None:
    known = facts(make(script))
    act(script, known["batch"], "start", max_credits=393)
    batch = advance(Batch.objects.get())
    type(script.key).objects.filter(pk=script.key.pk).update(**change)
    end_script(first := jobs_of(batch)[0])
    continue_planned_render(first.pk)
    batch = advance(batch)
    assert batch.state == BatchState.PAUSED
    assert "“nightly” was paused, has ended" in batch.pause_reason
    assert states(batch) == ["failed", "begun", "waiting"]
    assert not batches.charges_of(batch)


def test_it_is_paused_resumed_and_cancelled(script: Script) -> None:
    id = facts(make(script))["batch"]
    act(script, id, "start", max_credits=393)
    assert facts(act(script, id, "pause"))["state"] == "paused"
    assert act(script, id, "pause").json()["error"]["code"] == "NOT-POSSIBLE"
    assert facts(act(script, id, "resume"))["state"] == "running"
    advance(Batch.objects.get())
    cancelled = facts(act(script, id, "cancel"))
    assert cancelled["counts"] == {"begun": 2, "cancelled": 1}


def test_a_key_resumes_no_more_than_its_limits_leave(
    make_script: MakeScript, priya: Membership
) -> None:
    script = make_script(charge_limit=Decimal(300))
    id = facts(make(script))["batch"]
    batches.start(priya, Batch.objects.get())
    act(script, id, "pause")
    refused = act(script, id, "resume")
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "BUDGET-EXCEEDED")
    assert facts(act(script, id, "resume", max_credits=300))["max_credits"] == "300"
    assert Batch.objects.get().key == script.key


def test_the_list_has_all_of_the_team(script: Script, luca: Membership) -> None:
    for number in range(21):
        make(script, *topics(1), name=f"Batch {number}")
    Batch.objects.create(team=luca.team, member=luca.user, name="Of Luca")
    first = script.call("GET", "/_batches")
    check_shape("BatchPage", first.json())
    page = first.json()["data"]
    assert len(page["rows"]) == 20
    assert page["rows"][0]["name"] == "Of Luca"
    rest = script.call("GET", f"/_batches?cursor={page['next_cursor']}").json()["data"]
    assert [row["name"] for row in rest["rows"]] == ["Batch 1", "Batch 0"]
    assert rest["next_cursor"] is None
    for query in ("?cursor=x", "?limit=5", "?cursor=1&cursor=2"):
        assert script.call("GET", f"/_batches{query}").status_code == 400


def test_the_batch_of_another_member_is_read_and_not_started(
    script: Script, luca: Membership
) -> None:
    TokenFactory.create(account=Token.objects.get().account, owner=luca.user)
    table = read_table("topic\nFog")
    theirs = actions.create_batch(by=luca, name="Of Luca", file_name="", table=table, preset=None)
    assert facts(script.call("GET", f"/_batches/{theirs.pk}"))["name"] == "Of Luca"
    refused = act(script, str(theirs.pk), "start", max_credits=900)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "GEN-FORBIDDEN")


def test_the_batch_of_another_team_does_not_exist(script: Script, otto: Membership) -> None:
    theirs = Batch.objects.create(team=otto.team, member=otto.user, name="Theirs")
    for answer in (
        script.call("GET", f"/_batches/{theirs.pk}"),
        act(script, str(theirs.pk), "start", max_credits=9),
        act(script, str(theirs.pk), "pause"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "GEN-NOT-FOUND")


def test_a_key_of_another_token_than_its_owner_uses_is_refused(
    make_script: MakeScript, priya: Membership
) -> None:
    other = TokenFactory.create(account=Token.objects.get().account, owner=priya.user)
    used = {require_member_token(priya).pk}
    (bound,) = {other.pk, Token.objects.exclude(pk=other.pk).get().pk} - used
    refused = make(make_script(token_id=bound), start=True, max_credits=393)
    assert refused.status_code == 409
    assert "runs on another token" in refused.json()["message"]


def test_scopes_and_roles_hold(make_script: MakeScript, priya: Membership) -> None:
    reads = make_script(scopes=[KeyScope.READ])
    assert make(reads).json()["error"]["code"] == "SCOPE-MISSING"
    creates = make_script(scopes=[KeyScope.READ, KeyScope.CREATE])
    known = facts(make(creates))
    assert known["balance_after"] is None
    for refused in (
        make(creates, start=True, max_credits=393),
        act(creates, known["batch"], "start", max_credits=393),
        act(creates, known["batch"], "resume"),
    ):
        assert refused.json()["error"] | {"request_id": ""} == {
            "code": "SCOPE-MISSING",
            "scope": "render",
            "request_id": "",
        }
    Membership.objects.filter(pk=priya.pk).update(role=Role.VIEWER)
    refused = make(make_script())
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "GEN-FORBIDDEN")


BAD_FIELDS: list[dict[str, Any]] = [
    {"rows": []},
    {"rows": "title"},
    {"rows": [["Lake"]]},
    {"rows": topics(501)},
    {"rows": [{"topic": "Fog", "colour": "red"}]},
    {"rows": [{"topic": "Fog", "Topic": "Ice"}]},
    {"rows": [{"topic": ["Fog"]}]},
    {"rows": [{"topic": "Fog\0"}]},
    {"rows": [{"topic": "Fog \ud800"}]},
    {"rows": [{"topic\0": "Fog"}]},
    {"rows": [{"topic": "x" * 30_001}]},
    {"at_once": 9},
    {"at_once": {"a": 1}},
    {"max_credits": "many"},
    {"max_credits": -1},
    {"max_failures": 501},
    {"name": "Fog\0"},
    {"name": "x" * 81},
    {"preset": "None such"},
    {"preset": "\ud800"},
    {"start": True},
    {"colour": "red"},
]


@pytest.mark.parametrize("fields", BAD_FIELDS)
def test_what_cannot_be_read_is_refused_with_a_sentence(
    script: Script, fields: dict[str, Any]
) -> None:
    answer = make(script, **fields)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "GEN-WRONG-ARGS")
    assert answer.json()["message"]
    assert not Batch.objects.exists()


def test_a_preset_is_given_by_its_name(script: Script, priya: Membership) -> None:
    preset = PresetFactory.create(team=priya.team, name="Weekly")
    facts(make(script, preset="Weekly", at_once=4, max_failures=0))
    batch = Batch.objects.get()
    assert (batch.preset, batch.at_once, batch.max_failures) == (preset, 4, 0)


def test_a_key_never_loses_the_films_of_a_batch(script: Script) -> None:
    """What it makes is listed as its own."""
    id = facts(make(script, *topics(1)))["batch"]
    act(script, id, "start", max_credits=131)
    advance(Batch.objects.get())
    assert Job.objects.get(batch_row__batch=id).api_key == script.key
