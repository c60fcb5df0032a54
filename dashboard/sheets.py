"""Style sheets: one file a component in the sources, one file over the wire.

Two dozen small answers weigh half as much again as one. So `collectstatic` lays the sheets behind
each other, in the order of their layers; without it (development, tests) pages link each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from servestatic.storage import CompressedManifestStaticFilesStorage

FIRST = ("css/tokens.css", "css/layers.css")  # the first declares the order of the layers
COMPONENTS = "css/components/"
ALL = "css/reelroom.css"


class Storage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """The hashed and compressed files of ServeStatic, with the sheets as one."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        if not dry_run:
            self.delete(ALL)
            self._save(ALL, ContentFile(b"\n".join(map(self.text_of, in_order(paths)))))
            paths = {**paths, ALL: (self, ALL)}
        yield from super().post_process(paths, dry_run, **options)

    def text_of(self, name: str) -> bytes:
        with self.open(name) as file:
            return bytes(file.read())


def linked() -> list[str]:
    """The sheets a page links: all in one where they were collected, else each."""
    if isinstance(staticfiles_storage, Storage):
        return [ALL]
    return in_order(name for finder in get_finders() for name, _ in finder.list([]))


def in_order(names: Any) -> list[str]:
    components = sorted(name for name in names if name.startswith(COMPONENTS))
    return [*FIRST, *components]
