"""Sheets and scripts: each by itself in development, all in one where they were collected."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from rjsmin import jsmin

from dashboard.static_files import bundles
from dashboard.static_files.bundles import (
    BUNDLES,
    BundlingStorage,
    StaticBundle,
    files_to_link,
)

STYLES, SCRIPTS = "css/reelroom.css", "js/reelroom.js"
STATIC = Path(settings.BASE_DIR) / "static"


def test_tokens_come_first_because_they_order_the_layers() -> None:
    assert files_to_link(STYLES)[:2] == ["css/tokens.css", "css/layers.css"]


@pytest.mark.parametrize("bundle", BUNDLES.values(), ids=lambda bundle: bundle.name)
def test_every_component_is_linked_once(bundle: StaticBundle) -> None:
    files = sorted(f"{bundle.folder}{path.name}" for path in (STATIC / bundle.folder).iterdir())
    assert files
    assert files_to_link(bundle.name) == [*bundle.leading_files, *files]


@pytest.fixture
def collected_static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BundlingStorage:
    """Where our files were collected."""
    storage = bundles.BundlingStorage(location=tmp_path, base_url="/static/")
    monkeypatch.setattr(bundles, "staticfiles_storage", storage)
    found = {}
    for finder in get_finders():
        for name, source in finder.list([]):
            if name.startswith(("css/", "js/")):
                found[name] = (storage, name)
                with source.open(name) as file:
                    storage.save(name, file)
    list(storage.post_process(found))
    return storage


def collected_text(storage: BundlingStorage, name: str) -> str:
    return Path(storage.path(storage.stored_name(name))).read_text()


def test_collecting_lays_the_sheets_behind_each_other(collected_static: BundlingStorage) -> None:
    one = collected_text(collected_static, STYLES)
    assert one.index("--paper:") < one.index(".btn") < one.index(".card")
    assert "/*" not in one
    assert "\n  " not in one
    assert ".table :is(th,td){" in one
    assert files_to_link(STYLES) == [STYLES]
    studio = collected_text(collected_static, "css/studio.css")
    assert ".steps" in studio and ".steps" not in one


def test_the_parts_of_sheets_and_unhashed_names_are_not_collected(
    collected_static: BundlingStorage,
) -> None:
    sheets = {path.name for path in Path(collected_static.location).rglob("*.css")}
    hashed = collected_static.hashed_files
    linked = ["css/sign_in.css", *(name for name in BUNDLES if name.endswith(".css"))]
    assert sheets == {Path(hashed[name]).name for name in linked}
    assert not (Path(collected_static.location) / SCRIPTS).exists()


def test_collecting_lays_the_scripts_of_every_page_behind_each_other(
    collected_static: BundlingStorage,
) -> None:
    one = collected_text(collected_static, SCRIPTS)
    for path in (STATIC / BUNDLES[SCRIPTS].folder).iterdir():
        assert jsmin(path.read_text()) in one
    assert files_to_link(SCRIPTS) == [SCRIPTS]


def test_collecting_minifies_the_script_of_one_page(collected_static: BundlingStorage) -> None:
    script = STATIC / "js" / "countdown.js"
    assert script.read_text().startswith("//")
    collected = collected_text(collected_static, f"js/{script.name}")
    assert "//" not in collected
    assert len(collected) < len(script.read_text())
