"""Static files of two releases, side by side for as long as one replaces the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.contrib.staticfiles.finders import get_finder
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory
from servestatic import middleware

from dashboard.static_files import releases
from dashboard.static_files.bundles import BUNDLES, BundlingStorage
from dashboard.static_files.releases import AssetsMiddleware

STYLES = "css/reelroom.css"


@pytest.fixture
def stylesheet(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """One sheet of the sources of this test; collected are they into a folder of its own."""
    settings.VAR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    settings.STATICFILES_DIRS = [tmp_path / "source"]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    get_finder.cache_clear()  # type: ignore[attr-defined]
    for name in (*BUNDLES[STYLES].leading_files, "css/components/note.css"):
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"/* {name} */")
    yield tmp_path / "source/css/components/note.css"
    get_finder.cache_clear()  # type: ignore[attr-defined]


def collected(sheet: Path, text: str) -> str:
    """The name that pages of a release with this text link."""
    sheet.write_text(text)
    releases.collect_static_files()
    return str(storage().hashed_files[STYLES])


def long_sheet(colour: str) -> str:
    """A sheet long enough to be compressed."""
    return "".join(f".note-{number} {{ color: {colour}; order: {number} }}" for number in range(50))


def storage() -> BundlingStorage:
    return BundlingStorage(location=str(site.STATIC_ROOT))


@pytest.fixture
def start_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], AssetsMiddleware]:
    """A process that starts now."""

    def start() -> AssetsMiddleware:
        monkeypatch.setattr(middleware, "staticfiles_storage", storage())
        return AssetsMiddleware(nobody)

    return start


async def nobody(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=HTTPStatus.NOT_FOUND)


def asked(process: AssetsMiddleware, name: str) -> tuple[int, bytes]:
    async def ask() -> tuple[int, bytes]:
        answer: Any = await process(AsyncRequestFactory().get(f"/static/{name}"))
        parts = [part async for part in answer] if answer.streaming else [answer.content]
        return answer.status_code, b"".join(parts)

    return asyncio.run(ask())


def test_each_release_serves_the_other_ones_sheets(
    stylesheet: Path, start_process: Callable[[], AssetsMiddleware]
) -> None:
    before = collected(stylesheet, ".note {color: red}")
    running = start_process()

    now = collected(stylesheet, ".note {color: tan}")

    assert now != before
    for process in (running, start_process()):
        assert [asked(process, name)[0] for name in (before, now)] == [200, 200]
        assert b"red" in asked(process, before)[1]
        assert b"tan" in asked(process, now)[1]


def test_what_no_release_has_is_not_found(
    stylesheet: Path, tmp_path: Path, start_process: Callable[[], AssetsMiddleware]
) -> None:
    collected(stylesheet, ".note {color: red}")
    (tmp_path / "secret").write_text("s")
    process = start_process()

    traversals = ("css/gone.css", "css", "css/", "../secret", "%2e%2e/secret", "css/\0.css")
    for name in (*traversals, "staticfiles.json"):
        assert asked(process, name)[0] == 404, name


def test_the_last_release_stays_and_earlier_ones_go(stylesheet: Path, tmp_path: Path) -> None:
    first = collected(stylesheet, long_sheet("red"))
    second = collected(stylesheet, long_sheet("blue"))
    third = collected(stylesheet, long_sheet("green"))

    names = {path.name for path in (tmp_path / "static/css").iterdir()}
    assert {Path(second).name, f"{Path(second).name}.gz", Path(third).name} <= names
    assert not any(name.startswith(Path(first).name) for name in names)
    assert not (tmp_path / "static.new").exists()


@pytest.mark.parametrize(
    ("doing", "suffix"),
    [("replace", ".css"), ("replace", ".gz"), ("unlink", ".css"), ("replace", ".json")],
)
def test_a_killed_run_takes_nothing_from_the_release_that_serves(
    stylesheet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doing: str, suffix: str
) -> None:
    first = collected(stylesheet, ".note {color: red}")
    served = collected(stylesheet, ".note {color: blue}")
    done = getattr(Path, doing)

    def die(path: Path, *args: Any, **named: Any) -> Any:
        if path.suffix == suffix:
            raise KeyboardInterrupt
        return done(path, *args, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, doing, die)
        collected(stylesheet, long_sheet("green"))
    assert storage().hashed_files[STYLES] == served

    last = collected(stylesheet, ".note {color: black}")

    assert {served, last} <= {f"css/{path.name}" for path in (tmp_path / "static/css").iterdir()}
    assert not (tmp_path / "static" / first).exists()
    assert not (tmp_path / "static.new").exists()


def test_who_collects_again_what_was_not_stamped_keeps_the_last_release(
    stylesheet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = collected(stylesheet, ".note {color: red}")
    with monkeypatch.context() as patch, pytest.raises(FileNotFoundError):
        patch.setattr(releases, "static_stamp_path", lambda: tmp_path / "nowhere" / "static.stamp")
        collected(stylesheet, ".note {color: blue}")
    assert not releases.is_static_collected()

    now = collected(stylesheet, ".note {color: blue}")

    assert {last, now} <= {f"css/{path.name}" for path in (tmp_path / "static/css").iterdir()}


def test_who_collects_the_same_again_removes_nothing(stylesheet: Path, tmp_path: Path) -> None:
    first = collected(stylesheet, ".note {color: red}")
    collected(stylesheet, ".note {color: blue}")
    releases.collect_static_files()
    assert (tmp_path / "static" / first).is_file()


def test_nothing_is_collected_twice(stylesheet: Path) -> None:
    assert not releases.is_static_collected()
    collected(stylesheet, ".note {color: red}")
    assert releases.is_static_collected()
    stylesheet.write_text(".note {color: yellow}")
    assert not releases.is_static_collected()


def test_it_is_collected_again_when_something_else_is_left_out(
    stylesheet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected(stylesheet, ".note {color: red}")
    monkeypatch.setattr(releases, "IGNORED_PATTERNS", [stylesheet.name])
    assert not releases.is_static_collected()
