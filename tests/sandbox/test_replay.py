"""A past made by the API itself: every call at its instant, all of it saved or nothing."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from proxyapi.sandbox.world import World
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

START = datetime(2025, 12, 1, 9, tzinfo=UTC)  # six weeks before the frozen clock's instant


def call(minutes: float, method: str, path: str, body: Any = None, **more: str) -> dict[str, Any]:
    at = START + timedelta(minutes=minutes)
    return {"at": at.isoformat(), "method": method, "path": path, "body": body, **more}


def past_of_a_film() -> list[dict[str, Any]]:
    mine = {"token": "{studio.token}"}
    video = "/v2/faceless/{film.data.id}"
    draft = {"type": "ai-visuals", "title": "Tides"}
    return [
        call(0, "POST", "/_sandbox/accounts", {"name": "Studio"}, name="studio"),
        call(1, "POST", "/v2/faceless", draft, name="film", **mine),
        call(1.1, "PATCH", video, READY_SETTINGS, **mine),
        call(2, "POST", f"{video}/render", name="render", **mine),
        call(60, "GET", video, name="done", **mine),
    ]


def replay(sandbox: SandboxClient, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    response = sandbox.post("/_sandbox/replay", {"calls": calls})
    assert response.status_code == 200, response.text
    answers: list[dict[str, Any]] = response.json()["answers"]
    return answers


def test_each_call_comes_at_its_instant_and_the_clock_is_as_before(sandbox):
    before = sandbox.get("/_sandbox/clock").json()
    made, film, _, render, done = replay(sandbox, past_of_a_film())
    assert [it["status"] for it in (made, film, render, done)] == [201, 201, 202, 200]
    assert sandbox.get("/_sandbox/clock").json() == before
    assert film["body"]["data"]["created_at"] == "2025-12-01T09:01:00+00:00"
    video = done["body"]["data"]
    assert (video["video"]["status"], video["updated_at"]) == (
        "completed",
        "2025-12-01T09:02:06+00:00",  # when the render ended, not when it was looked at
    )
    sandbox.token = made["body"]["token"]
    (debit,) = sandbox.get("/v2/credits/history").json()["data"]
    assert debit["created_at"] == "2025-12-01T09:02:00+00:00"
    path = f"/_sandbox/accounts/{made['body']['account_id']}/money"
    assert sandbox.get(path).json()["balanced"]


def test_a_file_is_sent_as_a_form_and_a_value_of_a_list_goes_into_a_body(sandbox):
    mine, path = {"token": "{studio.token}"}, "/v2/characters/{maja.data.id}"
    file = {"field": "image", "name": "photo.png", "content_type": "image/png"}
    file["content"] = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    training = {"preview_id": "{drawn.data.previews.1.id}", "name": "Maja {studio}"}
    _, _, drawn, trained = replay(
        sandbox,
        [
            call(0, "POST", "/_sandbox/accounts", {"name": "Studio"}, name="studio"),
            {**call(1, "POST", "/v2/characters", name="maja", **mine), "file": file},
            call(2, "POST", f"{path}/preview", {"genre_id": 301}, name="drawn", **mine),
            call(3, "POST", f"{path}/train", training, name="trained", **mine),
        ],
    )
    second = drawn["body"]["data"]["previews"][1]
    record = trained["body"]["data"]
    assert (record["preview_id"], record["name"]) == (second["id"], "Maja {studio}")


def test_a_film_of_the_past_is_made_when_somebody_asks_for_it(sandbox):
    films = len(sandbox.maker.films)
    done = replay(sandbox, past_of_a_film())[-1]["body"]["data"]["video"]
    assert len(sandbox.maker.films) == films
    assert sandbox.get(done["url"]).status_code == 200
    assert len(sandbox.maker.films) == films + 1


def test_answers_are_kept_of_named_calls_alone(sandbox):
    bodies = [it["body"] for it in replay(sandbox, past_of_a_film())]
    assert [body is None for body in bodies] == [False, False, True, False, False]


def test_a_charge_whose_answer_is_lost_stays_charged(sandbox):
    fault = {"match": {"path": "*/render"}, "when": "after", "action": "close", "times": 1}
    *calls, render, done = past_of_a_film()
    answers = replay(sandbox, [*calls, call(1.5, "POST", "/_sandbox/faults", fault), render, done])
    assert (answers[-2]["status"], answers[-1]["body"]["data"]["video"]["status"]) == (
        None,
        "completed",
    )


@pytest.mark.parametrize(
    "calls",
    [
        [call(2, "GET", "/v2/me"), call(1, "GET", "/v2/me")],
        [call(60 * 24 * 365, "GET", "/v2/me")],
        [call(1, "GET", "/v2/me") | {"at": "1969-01-01T00:00:00Z"}, call(2, "GET", "/v2/me")],
        [*past_of_a_film(), call(61, "GET", "/v2/faceless/{nothing.data.id}")],
        [*past_of_a_film(), call(61, "GET", "/v2/me", token="{film.data.token}")],
        [call(1, "GET", "/v2/me") | {"at": "2025-12-01T09:00:00"}],
    ],
)
def test_a_replay_that_cannot_be_changes_nothing(sandbox, calls):
    before = sandbox.get("/_sandbox/snapshot").json()
    assert sandbox.post("/_sandbox/replay", {"calls": calls}).status_code == 422
    assert sandbox.get("/_sandbox/snapshot").json() == before


def test_a_kill_in_the_middle_leaves_the_world_before(sandbox, monkeypatch):
    """Nothing is written until the last call is handled."""
    written: list[int] = []
    write = sandbox.world.store.write

    def count_write(*rows: Any, **options: Any) -> None:
        written.append(len(rows))
        write(*rows, **options)

    monkeypatch.setattr(sandbox.world.store, "write", count_write)
    replay(sandbox, past_of_a_film())
    assert len(written) == 1
    sandbox.start()
    assert isinstance(sandbox.world, World)
    assert len(sandbox.world.accounts) == 2
