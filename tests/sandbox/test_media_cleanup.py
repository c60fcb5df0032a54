"""Media files leave after the world that shows them no more is saved, and not before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract import staging
from tests.sandbox.conftest import SandboxClient


class Killed(BaseException):
    """The end of the process, in the middle of what it did."""


def media(sandbox: SandboxClient) -> set[str]:
    return {path.name for path in Path(sandbox.app.state.studio.media_dir).iterdir()}


def uploaded(sandbox: SandboxClient) -> int:
    """A completed video with a picture of its own; returns its id."""
    number = sandbox.rendered()
    form = {"file": ("a.png", staging.png(), "image/png")}
    sandbox.call("POST", f"/v2/ai-visuals/{number}/assets/upload", files=form)
    return number


def test_a_kill_before_a_reset_is_saved_leaves_the_world_with_its_films(sandbox, monkeypatch):
    number = uploaded(sandbox)
    before, token = media(sandbox), sandbox.token

    def kill(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(sandbox.world.store, "write", kill)
    with pytest.raises(Killed):
        sandbox.post("/_sandbox/reset", {"scenario": "paid"})
    restarted(sandbox)
    assert media(sandbox) == before
    sandbox.token = token
    assert sandbox.get(sandbox.video(number)["url"]).status_code == 200


def test_a_kill_after_a_reset_was_saved_leaves_no_film_behind(sandbox, monkeypatch):
    uploaded(sandbox)
    assert media(sandbox)

    def kill(path: Path, **_: object) -> None:
        raise Killed

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr(Path, "unlink", kill)
        sandbox.post("/_sandbox/reset", {"scenario": "paid"})
    restarted(sandbox)
    assert media(sandbox) == set()
    assert len(sandbox.world.videos) == len(sandbox.world.leaving) == 0


def test_scraped_pictures_stay_until_those_in_their_place_are_saved(sandbox, monkeypatch):
    number = sandbox.draft(type="url-based")
    path = f"/v2/url-to-video/{number}/scrape-images"
    assert sandbox.post(path, {"url": staging.PAGE}).status_code == 200
    for asset in sandbox.get(f"/v2/faceless/{number}").json()["data"]["assets"]:
        sandbox.get(asset["url"])
    before = media(sandbox)
    write, seen = sandbox.world.store.write, []

    def watch(bodies: object, **wanted: object) -> None:
        seen.append(media(sandbox))
        write(bodies, **wanted)

    monkeypatch.setattr(sandbox.world.store, "write", watch)
    assert sandbox.post(path, {"url": staging.PAGE}).status_code == 200
    assert before and seen[0] == before
    assert media(sandbox).isdisjoint(before)


@pytest.mark.parametrize("films", ["plain", "made"])
def test_a_film_that_a_reset_took_is_made_again_for_who_put_the_world_back(sandbox, films):
    sandbox.set(films=films)
    number = sandbox.rendered()
    url, snapshot = sandbox.video(number)["url"], sandbox.get("/_sandbox/snapshot").json()
    sandbox.post("/_sandbox/reset", {})
    assert sandbox.get(url).status_code == 404
    assert sandbox.put("/_sandbox/snapshot", snapshot).status_code == 200
    assert sandbox.get(url).status_code == 200
    assert sandbox.get(url).status_code == 200


def test_a_snapshot_has_no_file_removed_that_is_no_media(sandbox, tmp_path):
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    snapshot = sandbox.get("/_sandbox/snapshot").json()
    snapshot["leaving"] = [{"id": "../kept.txt"}]
    snapshot["still"] = [{"id": "../kept.txt"}, {"id": str(kept)}]
    assert sandbox.put("/_sandbox/snapshot", snapshot).status_code == 200
    assert sandbox.post("/_sandbox/reset").status_code == 200
    assert kept.read_text() == "mine"


def restarted(sandbox: SandboxClient) -> None:
    """The program after a kill: what was not saved is not known any more."""
    sandbox.world.store.close()
    sandbox.start()
