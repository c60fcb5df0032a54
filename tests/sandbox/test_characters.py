"""Characters: photo, previews and their limit, training, and the options that list them."""

from __future__ import annotations

import pytest

from proxyapi.sandbox.api import resource_shapes, shapes
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def photo(sandbox: SandboxClient, data: bytes = PNG):
    return sandbox.call("POST", "/v2/characters", files={"image": ("me.png", data, "image/png")})


def character(sandbox: SandboxClient) -> int:
    number: int = photo(sandbox).json()["data"]["id"]
    return number


def preview(sandbox: SandboxClient, number: int | str, genre_id: object = 301):
    return sandbox.post(f"/v2/characters/{number}/preview", {"genre_id": genre_id})


def train(sandbox: SandboxClient, number: int, **wanted: object):
    previews = sandbox.get(f"/v2/characters/{number}").json()["data"]["previews"]
    chosen = {"preview_id": previews[0]["id"] if previews else 1, "name": "Ada", **wanted}
    return sandbox.post(f"/v2/characters/{number}/train", chosen)


def status(sandbox: SandboxClient, number: int) -> str:
    found: str = sandbox.get(f"/v2/characters/{number}").json()["data"]["status"]
    return found


def test_a_character_begins_with_a_photo(sandbox):
    answer = photo(sandbox)
    assert answer.status_code == 201
    shape = shapes.Envelope[resource_shapes.CharacterShape]
    shape.model_validate(answer.json(), strict=True, extra="forbid")
    data = answer.json()["data"]
    assert (data["status"], data["previews"], data["name"]) == ("draft", [], None)
    shown = sandbox.get(data["image_url"])
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    assert sandbox.money()["ledger_sum"] == 0


@pytest.mark.parametrize("data", [b"", b"GIF89a" + bytes(20), b"%PDF-1.7", b"<svg/>"])
def test_what_is_no_picture_is_422(sandbox, data):
    answer = photo(sandbox, data)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["image"])


def test_a_photo_may_be_too_large_or_missing_or_text(sandbox):
    sandbox.set(character_image_bytes=20)
    assert "20 bytes" in photo(sandbox).json()["message"]
    missing = sandbox.call("POST", "/v2/characters", data={"x": "y"})
    assert missing.json()["errors"] == {"image": ["The image field is required."]}
    text = sandbox.call("POST", "/v2/characters", data={"image": "me.png"})
    assert text.json()["errors"] == {"image": ["The image field must be a file."]}
    assert sandbox.post("/v2/characters", {"image": "me.png"}).status_code == 422


def test_genres_are_not_those_of_faceless_videos(sandbox):
    genres = sandbox.get("/v2/characters/genres").json()
    shapes.Envelope[list[resource_shapes.NamedShape]].model_validate(genres, strict=True)
    options = sandbox.get("/v2/faceless/options?only=genres").json()["data"]["mandatory"]["genres"]
    assert {it["id"] for it in genres["data"]}.isdisjoint(it["id"] for it in options)
    assert preview(sandbox, character(sandbox), options[0]["id"]).status_code == 422


def test_previews_are_pictures_in_the_genre_from_the_photo(sandbox):
    number = character(sandbox)
    answer = preview(sandbox, number, 302).json()
    resource_shapes.PreviewsShape.model_validate(answer, strict=True, extra="forbid")
    previews = answer["data"]["previews"]
    assert len({it["url"] for it in previews}) == 3 and "meta" not in answer
    shown = sandbox.get(previews[0]["url"])
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    wanted = sandbox.maker.films[-1]
    assert (wanted["kind"], wanted["genre"]) == ("portraits", "watercolor")
    photo_url = sandbox.get(f"/v2/characters/{number}").json()["data"]["image_url"]
    assert photo_url.endswith(wanted["photo"])


def test_five_previews_a_minute_and_no_more(sandbox):
    number, other = character(sandbox), character(sandbox)
    answers = [preview(sandbox, it) for it in (number, other, number, other, number, other)]
    assert [it.status_code for it in answers] == [200] * 5 + [429]
    refused = answers[-1]
    assert refused.json()["error"]["code"] == "GEN-TOO-MANY-REQUESTS"
    assert (refused.headers["retry-after"], refused.headers["x-ratelimit-limit"]) == ("60", "30")
    assert "x-ratelimit-reset" in refused.headers
    assert preview(sandbox, number, 999).status_code == 422
    sandbox.advance(60)
    assert preview(sandbox, number).status_code == 200


@pytest.mark.parametrize(("per", "expected"), [("account", 429), ("token", 200)])
def test_who_shares_the_previews_is_a_setting(sandbox, per, expected):
    sandbox.set(preview_limit_per=per, previews_per_minute=1)
    number = character(sandbox)
    assert preview(sandbox, number).status_code == 200
    (account,) = sandbox.get("/_sandbox/accounts").json()
    path = f"/_sandbox/accounts/{account['account_id']}/tokens"
    sandbox.token = sandbox.post(path).json()["token"]
    assert preview(sandbox, number).status_code == expected


def test_previews_may_cost_credits(sandbox):
    sandbox.set(costs={"character_preview": {"credits": 3}})
    answer = preview(sandbox, character(sandbox)).json()
    assert answer["meta"]["credits"] == {"cost": 3, "remaining": 997}


def test_training_costs_ten_credits_and_is_ready_after_a_while(sandbox):
    number = character(sandbox)
    preview(sandbox, number)
    answer = train(sandbox, number, name="Ada Lovelace", age=36, gender="female")
    assert answer.status_code == 202
    shape = shapes.Charged[resource_shapes.CharacterShape]
    shape.model_validate(answer.json(), strict=True, extra="forbid")
    data = answer.json()["data"]
    assert (data["status"], data["slug"], data["age"]) == ("training", "ada-lovelace", 36)
    assert data["image_url"] == data["previews"][0]["url"]
    assert answer.json()["meta"]["credits"] == {"cost": 10, "remaining": 990}
    assert train(sandbox, number).status_code == 403
    sandbox.advance(21)
    assert status(sandbox, number) == "ready"
    assert train(sandbox, number).status_code == 403
    assert sandbox.money()["balance"] == 990


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"preview_id": 5}, "preview_id"),
        ({"preview_id": None}, "preview_id"),
        ({"name": " "}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"age": 0}, "age"),
        ({"age": "36"}, "age"),
        ({"gender": "robot"}, "gender"),
    ],
)
def test_a_wrong_training_is_422_and_free(sandbox, wanted, field):
    number = character(sandbox)
    preview(sandbox, number)
    answer = train(sandbox, number, **wanted)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert sandbox.money()["ledger_sum"] == 0


@pytest.mark.parametrize(("refunds", "balance"), [(False, 980), (True, 990)])
def test_a_failed_training_can_be_tried_again(sandbox, refunds, balance):
    sandbox.set(failed_training_refunds=refunds)
    number = character(sandbox)
    preview(sandbox, number)
    outcome = {"kind": "character", "id": number, "statuses": ["training", "failed"]}
    sandbox.post("/_sandbox/outcomes", outcome)
    train(sandbox, number)
    sandbox.advance(30)
    assert status(sandbox, number) == "failed"
    assert train(sandbox, number).status_code == 202
    money = sandbox.money()
    assert (money["balance"], money["balanced"]) == (balance, True)


def test_a_trained_character_is_among_its_accounts_options(sandbox):
    number = character(sandbox)
    uuid = sandbox.get(f"/v2/characters/{number}").json()["data"]["uuid"]
    draft = sandbox.draft(**READY_SETTINGS)
    setting = {"character_id": uuid}
    assert sandbox.patch(f"/v2/faceless/{draft}", setting).status_code == 422
    preview(sandbox, number)
    train(sandbox, number)
    sandbox.advance(30)
    listed = sandbox.get("/v2/faceless/options?only=characters").json()["data"]["optional"]
    own = next(it for it in listed["characters"] if it["id"] == number)
    assert own == {
        "id": number, "uuid": uuid, "name": "Ada", "slug": "ada", "gender": "unknown",
        "status": "ready",
    }  # fmt: skip
    assert sandbox.patch(f"/v2/faceless/{draft}", setting).status_code == 200
    sandbox.token = sandbox.post("/_sandbox/accounts", {"name": "Otto"}).json()["token"]
    listed = sandbox.get("/v2/faceless/options?only=characters").json()["data"]["optional"]
    assert number not in [it["id"] for it in listed["characters"]]
    assert sandbox.get(f"/v2/characters/{number}").status_code == 404


def test_which_id_stands_in_paths_is_a_setting(sandbox):
    made = photo(sandbox).json()["data"]
    for allowed, expected in (
        ("either", [200, 200]),
        ("integer", [200, 404]),
        ("uuid", [404, 200]),
    ):
        sandbox.set(character_path_id=allowed)
        paths = [f"/v2/characters/{made[key]}" for key in ("id", "uuid")]
        assert [sandbox.get(path).status_code for path in paths] == expected


def test_a_restart_keeps_characters_their_previews_and_their_training(sandbox):
    number = character(sandbox)
    before = preview(sandbox, number).json()["data"]
    train(sandbox, number)
    sandbox.world.store.close()
    sandbox.start()
    after = sandbox.get(f"/v2/characters/{number}").json()["data"]
    assert (after["previews"], after["status"]) == (before["previews"], "training")
    assert sandbox.get(after["previews"][1]["url"]).status_code == 200
    sandbox.advance(30)
    assert status(sandbox, number) == "ready"
