"""Bundles: one source file per component, one file of style sheets and one of scripts for browsers.

Three dozen small responses are half as large again as two. `collectstatic` minifies our files and
concatenates the style sheets in the order of their layers, and the scripts of every page. Without
it (development, tests) pages link each file as it was written, a new one after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from lightningcss import process_stylesheet
from rjsmin import jsmin
from servestatic.storage import CompressedManifestStaticFilesStorage

MINIFIERS: dict[str, Callable[[str], str]] = {  # by the folder of our files
    "css/": partial(process_stylesheet, minify=True),
    "js/": jsmin,
}


@dataclass(frozen=True, slots=True)
class StaticBundle:
    """`name` contains `leading_files`, then the files of `folder` by name."""

    name: str
    folder: str
    leading_files: tuple[str, ...] = ()

    def parts(self, names: Iterable[str]) -> list[str]:
        return [
            *self.leading_files,
            *sorted(name for name in names if name.startswith(self.folder)),
        ]


# Every page links the two of Reelroom, pages of some areas others besides. The first style sheets
# declare tokens and the order of layers; scripts have no order.
BUNDLES = {
    bundle.name: bundle
    for bundle in (
        StaticBundle("css/reelroom.css", "css/components/", ("css/tokens.css", "css/layers.css")),
        StaticBundle("css/studio.css", "css/studio/"),
        StaticBundle("css/assets.css", "css/assets/"),
        StaticBundle("css/clips.css", "css/clips/"),
        StaticBundle("css/console.css", "css/console/"),
        StaticBundle("css/storyboards.css", "css/storyboards/"),
        StaticBundle("js/reelroom.js", "js/shell/"),
        StaticBundle("js/posters.js", "js/posters/"),
        StaticBundle("js/storyboard.js", "js/storyboard/"),
    )
}


class BundlingStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """ServeStatic's storage of hashed and compressed files, with the bundles added.

    The parts of style sheets are left out: no page links them then, and to compress files is most
    of the work. A script of the shell may also be linked by itself.
    """

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        if not dry_run:
            for name in paths:
                if minify := MINIFIERS.get(name[: name.find("/") + 1]):
                    self.replace_text(name, minify(self.read_text(name)))
            for bundle in BUNDLES.values():
                parts = (self.read_text(part) for part in bundle.parts(paths))
                self.replace_text(bundle.name, "\n".join(parts))
            style_parts = {
                part
                for bundle in BUNDLES.values()
                for part in bundle.parts(paths)
                if part.endswith(".css")
            }
            for name in style_parts:
                self.delete(name)
            paths = {
                **{name: found for name, found in paths.items() if name not in style_parts},
                **{name: (self, name) for name in BUNDLES},
            }
        yield from super().post_process(paths, dry_run, **options)

    def add_stats_to_manifest(self) -> None:
        """Do nothing. The stats would be those of STATIC_ROOT, which does not contain this release
        yet; without them the server reads each file's stat when it starts."""

    def read_text(self, name: str) -> str:
        with self.open(name) as file:
            return bytes(file.read()).decode()

    def replace_text(self, name: str, text: str) -> None:
        self.delete(name)
        self._save(name, ContentFile(text))


def files_to_link(name: str) -> list[str]:
    """The files that a page links for the bundle of this name: the bundle if it was collected, else
    each part. Raises `KeyError` if there is no such bundle."""
    if isinstance(staticfiles_storage, BundlingStorage):
        return [BUNDLES[name].name]
    return find_parts(name)


@cache  # a page asks for two, which means to list some forty folders
def find_parts(name: str) -> list[str]:
    return BUNDLES[name].parts(part for finder in get_finders() for part, _ in finder.list([]))
