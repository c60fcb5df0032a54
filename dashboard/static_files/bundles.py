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
class StaticBundle:
    """`name` holds the files `first`, then those of `folder` by name, without their `comments`."""

    name: str
    folder: str
    comment_pattern: re.Pattern[bytes]
    leading_files: tuple[str, ...] = ()

    def parts(self, names: Iterable[str]) -> list[str]:
        return [
            *self.leading_files,
            *sorted(name for name in names if name.startswith(self.folder)),
        ]


# The first of the sheets declares the order of the layers; each script stands for itself.
STYLE_BUNDLE = StaticBundle(
    "css/reelroom.css",
    "css/components/",
    re.compile(rb"/\*.*?\*/", re.DOTALL),
    ("css/tokens.css", "css/layers.css"),
)
SCRIPT_BUNDLE = StaticBundle("js/reelroom.js", "js/shell/", re.compile(rb"^ *//.*\n", re.MULTILINE))


class BundlingStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """The hashed and compressed files of ServeStatic, with the bundles beside them."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        if not dry_run:
            for bundle in (STYLE_BUNDLE, SCRIPT_BUNDLE):
                self.delete(bundle.name)
                text = b"\n".join(self.read_part(part) for part in bundle.parts(paths))
                self._save(bundle.name, ContentFile(bundle.comment_pattern.sub(b"", text)))
            paths = {
                **paths,
                **{one.name: (self, one.name) for one in (STYLE_BUNDLE, SCRIPT_BUNDLE)},
            }
        yield from super().post_process(paths, dry_run, **options)

    def add_stats_to_manifest(self) -> None:
        """Nothing. They would be those of STATIC_ROOT, where this release is not yet; without them
        each file is looked at when the server starts."""

    def read_part(self, name: str) -> bytes:
        with self.open(name) as file:
            return bytes(file.read())


def files_to_link(bundle: StaticBundle) -> list[str]:
    """What a page links of it: all in one where it was collected, else each part."""
    if isinstance(staticfiles_storage, BundlingStorage):
        return [bundle.name]
    return bundle.parts(name for finder in get_finders() for name, _ in finder.list([]))
