"""The two worlds that are measured: one with a single video, one with a busy year in it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from proxyapi.sandbox import billing, scenarios
from proxyapi.sandbox.clock import SandboxClock
from proxyapi.sandbox.records import Charge, Job, Video
from proxyapi.sandbox.store import Store
from proxyapi.sandbox.world import World
from tests.sandbox.conftest import READY_SETTINGS

WORLD_VIDEOS, WORLD_LEDGER_ROWS = 10_000, 100_000


class SavedWorld(NamedTuple):
    """A saved world: where it is, who may call it, and for which video."""

    folder: Path
    token: str
    video: int

    @property
    def path(self) -> str:
        return f"/v2/faceless/{self.video}"


def save_world(folder: Path, *, videos: int = 1, rows: int = 1) -> SavedWorld:
    """Save a world of so many completed videos and ledger rows; the newest video is asked for."""
    folder.mkdir()
    store = Store(folder / "world.sqlite3")
    world = World(seed=3, clock=SandboxClock(), store=store)
    account, token = scenarios.open_account(world, scenarios.NewAccount(credits=10**8))
    settings = world.settings.model_copy(update={"rate_limit": 10**9, "films": "plain"})
    world.store_settings(settings)
    video = None
    for _ in range(videos):
        video = _video(world, account.id)
    for number in range(rows):
        label, kind = f"Script generation {number}", settings.debit_type
        billing.book_entry(world, account, -4, label, "content-prompt", kind)
    assert video is not None
    world.commit()
    store.close()
    return SavedWorld(folder, token, video.id)


def _video(world: World, account_id: int) -> Video:
    """A completed video with its job and its charge."""
    chosen = {name: READY_SETTINGS[name] for name in ("voice_id", "genre_id")}
    video = Video(
        id=world.plausible_id("faceless", 41_200),
        video_id=world.plausible_id("video", 1_380_000),
        account_id=account_id,
        type="ai-visuals",
        title="Why the sea is salty",
        script=f"{READY_SETTINGS['script']} " * 8,
        settings=chosen,
        status="completed",
        created_at=world.now,
        updated_at=world.now,
    )
    job = Job(
        id=world.number("job"), kind="faceless", resource_id=video.id, statuses=["completed"],
        started_at=world.now, seconds=8, file=f"{video.id:032x}.mp4", made=True, ended=True,
    )  # fmt: skip
    video.job_id, video.file = job.id, job.file
    world.jobs.put(job)
    world.charges.put(
        Charge(
            id=world.number("charge"), account_id=account_id, feature="faceless_render",
            resource=f"faceless:{video.id}", credits=0, created_at=world.now,
        )
    )  # fmt: skip
    return world.videos.put(video)
