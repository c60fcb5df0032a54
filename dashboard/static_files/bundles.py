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


# The first style sheets declare tokens and the order of layers; scripts have no order.
STYLE_BUNDLE = StaticBundle(
    "css/reelroom.css",
    "css/components/",
    ("css/tokens.css", "css/layers.css"),
)
# Pages of some areas link one of them besides: the others need none of it.
STUDIO_STYLE_BUNDLE = StaticBundle("css/studio.css", "css/studio/")
ASSET_STYLE_BUNDLE = StaticBundle("css/assets.css", "css/assets/")
CLIPS_STYLE_BUNDLE = StaticBundle("css/clips.css", "css/clips/")
CONSOLE_STYLE_BUNDLE = StaticBundle("css/console.css", "css/console/")
STORYBOARD_STYLE_BUNDLE = StaticBundle("css/storyboards.css", "css/storyboards/")
SCRIPT_BUNDLE = StaticBundle("js/reelroom.js", "js/shell/")


STYLE_BUNDLES = (
    STYLE_BUNDLE,
    STUDIO_STYLE_BUNDLE,
    ASSET_STYLE_BUNDLE,
    CLIPS_STYLE_BUNDLE,
    CONSOLE_STYLE_BUNDLE,
    STORYBOARD_STYLE_BUNDLE,
)
BUNDLES = (*STYLE_BUNDLES, SCRIPT_BUNDLE)


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
            for bundle in BUNDLES:
                parts = (self.read_text(part) for part in bundle.parts(paths))
                self.replace_text(bundle.name, "\n".join(parts))
            style_parts = {part for bundle in STYLE_BUNDLES for part in bundle.parts(paths)}
            for name in style_parts:
                self.delete(name)
            paths = {
                **{name: found for name, found in paths.items() if name not in style_parts},
                **{added.name: (self, added.name) for added in BUNDLES},
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


def files_to_link(bundle: StaticBundle) -> list[str]:
    """The files that a page links: the bundle if it was collected, else each part."""
    if isinstance(staticfiles_storage, BundlingStorage):
        return [bundle.name]
    return find_parts(bundle)


@cache  # a page asks for two, which means to list some forty folders
def find_parts(bundle: StaticBundle) -> list[str]:
    return bundle.parts(name for finder in get_finders() for name, _ in finder.list([]))
