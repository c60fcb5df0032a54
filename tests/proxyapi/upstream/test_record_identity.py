"""The record that came is that of the resource in the request, wherever it stands in the answer."""

from __future__ import annotations

import pytest

from proxyapi.operations import get_operation
from proxyapi.upstream.record_identity import is_foreign_record

VIDEO = {"id": 99, "status": "completed", "url": "https://films.example/1.mp4"}


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("faceless.get", {"id": 7, "video_id": 99, "video": VIDEO}),
        ("faceless.patch", {"faceless": {"id": "7", "video": VIDEO}}),
        ("faceless.get", {"video": VIDEO}),
        ("faceless.get", None),
        ("faceless.export", {"id": 9, "status": "rendering"}),
        ("text_to_video.get", {"asset": {"id": 7, "status": "draft"}, "model": {"id": 3}}),
        ("text_to_scene.get", {"storyboard": {"id": 7, "scenes": [{"id": 1}], "video": VIDEO}}),
        ("text_to_scene.scenes", {"id": 12, "raw_video_prompt": "Ice."}),
        ("voice_clones.get", {"clone": {"id": 7, "status": "completed"}}),
        ("characters.preview", {"previews": [{"id": 1}]}),
        ("credits.history", [{"id": 9}]),
    ],
)
def test_its_own_record_is_taken(name, record):
    row = get_operation(name)
    assert not is_foreign_record(row, dict.fromkeys(row.path_parameters, "7"), record)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("faceless.get", {"id": 8, "video": VIDEO}),
        ("faceless.get", {"id": "8"}),
        ("faceless.patch", {"faceless": {"id": 8, "video": VIDEO}}),
        ("faceless.render", {"id": 8, "video": VIDEO}),
        ("text_to_video.get", {"asset": {"id": 8, "status": "success"}}),
        ("text_to_video.get", {"answer": {"asset": {"id": 8, "status": "success"}}}),
        ("text_to_scene.get", {"id": 8, "scenes": [], "video": VIDEO}),
        ("text_to_scene.render", {"storyboard": {"id": 8, "video": VIDEO}}),
        ("voice_clones.get", {"id": 8, "status": "completed"}),
        ("characters.get", {"character": {"id": 8, "status": "ready"}}),
    ],
)
def test_the_record_of_another_is_not(name, record):
    row = get_operation(name)
    assert is_foreign_record(row, dict.fromkeys(row.path_parameters, "7"), record)
