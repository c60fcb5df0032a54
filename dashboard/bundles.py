"""Style sheets and scripts: one file a component in the sources, one of each kind over the wire.

Three dozen small answers weigh half as much again as two. So `collectstatic` lays the sheets behind
each other, in the order of their layers, and so the scripts of every page; without it
(development, tests) pages link each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from servestatic.storage import CompressedManifestStaticFilesStorage


@dataclass(frozen=True, slots=True)
class Bundle:
    """`name` holds the files `first`, then those of `folder` by name, without their `comments`."""

    name: str
    folder: str
    comments: re.Pattern[bytes]
    first: tuple[str, ...] = ()

    def parts(self, names: Iterable[str]) -> list[str]:
        return [*self.first, *sorted(name for name in names if name.startswith(self.folder))]


# The first of the sheets declares the order of the layers; each script stands for itself.
SHEETS = Bundle(
    "css/reelroom.css",
    "css/components/",
    re.compile(rb"/\*.*?\*/", re.DOTALL),
    ("css/tokens.css", "css/layers.css"),
)
SCRIPTS = Bundle("js/reelroom.js", "js/shell/", re.compile(rb"^ *//.*\n", re.MULTILINE))


class Storage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """The hashed and compressed files of ServeStatic, with the bundles beside them."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        if not dry_run:
            for bundle in (SHEETS, SCRIPTS):
                self.delete(bundle.name)
                text = b"\n".join(self.text_of(part) for part in bundle.parts(paths))
                self._save(bundle.name, ContentFile(bundle.comments.sub(b"", text)))
            paths = {**paths, **{one.name: (self, one.name) for one in (SHEETS, SCRIPTS)}}
        yield from super().post_process(paths, dry_run, **options)

    def add_stats_to_manifest(self) -> None:
        """Nothing. They would be those of STATIC_ROOT, where this release is not yet; without them
        each file is looked at when the server starts."""

    def text_of(self, name: str) -> bytes:
        with self.open(name) as file:
            return bytes(file.read())


def linked(bundle: Bundle) -> list[str]:
    """What a page links of it: all in one where it was collected, else each part."""
    if isinstance(staticfiles_storage, Storage):
        return [bundle.name]
    return bundle.parts(name for finder in get_finders() for name, _ in finder.list([]))
