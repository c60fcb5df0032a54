"""The style sheets: each by itself in development, all in one where they were collected."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders

from dashboard import sheets


def test_tokens_come_first_because_they_order_the_layers() -> None:
    assert sheets.linked()[:2] == ["css/tokens.css", "css/layers.css"]


def test_every_component_is_linked_once() -> None:
    folder = Path(settings.BASE_DIR) / "static" / sheets.COMPONENTS
    components = [name for name in sheets.linked() if name.startswith(sheets.COMPONENTS)]
    assert components == sorted(f"{sheets.COMPONENTS}{path.name}" for path in folder.iterdir())


def test_collecting_lays_them_behind_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = sheets.Storage(location=tmp_path, base_url="/static/")
    monkeypatch.setattr(sheets, "staticfiles_storage", storage)
    found = {}
    for finder in get_finders():
        for name, source in finder.list([]):
            if name.startswith("css/"):
                found[name] = (storage, name)
                with source.open(name) as file:
                    storage.save(name, file)
    list(storage.post_process(found))
    one = (tmp_path / sheets.ALL).read_text()
    assert one.startswith(Path(settings.BASE_DIR, "static/css/tokens.css").read_text()[:60])
    assert one.index(".btn") < one.index(".card")
    assert sheets.linked() == [sheets.ALL]
