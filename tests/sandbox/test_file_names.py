"""Names of media files: a world that was reset or put back serves no film of another one."""

from __future__ import annotations

from tests.sandbox.conftest import READY_SETTINGS

OLD = {**READY_SETTINGS, "script": "The old story tells of the sea."}
NEW = {**READY_SETTINGS, "script": "The new story tells of bees."}


def test_a_film_of_the_world_before_a_reset_is_not_served_after_it(sandbox):
    sandbox.maker.waits = True
    sandbox.post(f"/v2/faceless/{sandbox.draft(**OLD)}/render")
    sandbox.reset("paid")
    number = sandbox.draft(**NEW)
    sandbox.post(f"/v2/faceless/{number}/render")
    assert [film["script"] for film in sandbox.maker.films] == [OLD["script"], NEW["script"]]
    sandbox.advance(60)
    (old, done), new = sandbox.maker.waiting[0], sandbox.maker.waiting[1]
    done(None)
    assert sandbox.video(number)["status"] == "syncing"
    new[0].write_bytes(b"bees")
    new[1](None)
    assert sandbox.get(sandbox.video(number)["url"]).content == b"bees"
    assert old != new[0]


def test_a_film_that_another_job_began_before_the_reset_is_taken_over(sandbox):
    sandbox.maker.waits = True
    sandbox.world.number("job")
    sandbox.post(f"/v2/faceless/{sandbox.draft(**OLD)}/render")
    sandbox.reset("paid")
    number = sandbox.draft(**OLD)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    sandbox.maker.go_on()
    assert sandbox.video(number)["status"] == "completed"
    assert len(sandbox.maker.films) == 1


def test_a_world_put_back_gets_the_film_of_its_own_script(sandbox):
    number = sandbox.draft(**OLD)
    snapshot = sandbox.get("/_sandbox/snapshot").json()
    urls = []
    for script in (OLD["script"], NEW["script"], OLD["script"]):
        assert sandbox.put("/_sandbox/snapshot", snapshot).status_code == 200
        sandbox.patch(f"/v2/faceless/{number}", {"script": script})
        sandbox.post(f"/v2/faceless/{number}/render")
        sandbox.advance(60)
        urls.append(sandbox.video(number)["url"])
    assert urls[0] != urls[1]
    assert urls[0] == urls[2]
    assert [film["script"] for film in sandbox.maker.films] == [OLD["script"], NEW["script"]]


def test_a_world_put_back_gets_the_pictures_and_uploads_of_its_own(sandbox):
    number = sandbox.draft(**OLD)
    snapshot = sandbox.get("/_sandbox/snapshot").json()
    drawn, kept = [], []
    for told, colour in ((OLD, b"sea"), (NEW, b"bee")):
        sandbox.put("/_sandbox/snapshot", snapshot)
        form = {"file": ("a.png", b"\x89PNG\r\n\x1a\n" + colour, "image/png")}
        sandbox.call("POST", f"/v2/ai-visuals/{number}/assets/upload", files=form)
        sandbox.patch(f"/v2/faceless/{number}", {"script": told["script"]})
        sandbox.post(f"/v2/faceless/{number}/render")
        (video,) = sandbox.world.videos
        files = {it.source: it.file for it in video.assets}
        drawn.append(files["generated"])
        kept.append(files["uploaded"])
    assert len(set(drawn)) == len(set(kept)) == 2
