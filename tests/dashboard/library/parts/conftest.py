"""A finished video with three scenes, on an account whose price list is known."""

from __future__ import annotations

import pytest

from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import Account, Job
from tests.dashboard.library.conftest import MakeVideoJob

HOST = "http://127.0.0.1:8001/media"
COSTS = {
    "ai_image_regenerated": {"credits": 2, "free": 5},
    "faceless_export": {"credits": 5, "free": 1},
}
OPTIONS = {
    "caption_effects": [{"slug": "pop", "name": "Pop"}, {"slug": "karaoke", "name": "Karaoke"}],
    "caption_positions": [{"slug": "center", "name": "Center"}],
    "fonts": [{"slug": "mono", "name": "Mono"}],
}
SCENES = [
    {"id": id, "source": "generated", "url": f"{HOST}/{id}.jpg", "text": text}
    for id, text in ((61, "Ice moves like a slow river."), (62, "It keeps"), (63, "a diary."))
]


@pytest.fixture
def job(make_video_job: MakeVideoJob, account: Account) -> Job:
    Account.objects.filter(pk=account.pk).update(
        costs=COSTS, options={"mandatory": {}, "optional": OPTIONS}
    )
    job = make_video_job("completed")
    store_parts(job, {"assets": SCENES, "exports": []}, ("assets", "exports"))
    job.refresh_from_db()
    return job
