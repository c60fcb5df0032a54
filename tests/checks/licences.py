"""docs/reference/licences.md: what the product's packages are licensed under.

Read from the metadata of the installed packages, for the names in the locks. What has no metadata
on every platform, or says nothing there, is named in `STATED_LICENCES`, so that the page is the
same everywhere. Written by `python -m tests.checks.licences` (and by `make fix`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from tests.checks import lock_files

ROOT = Path(__file__).resolve().parents[2]
LICENCES_PAGE = "docs/reference/licences.md"
PRODUCT, MEDIA = lock_files.LOCKS[0].file, lock_files.LOCKS[1].file
STATED_LICENCES = {
    "async-timeout": "Apache-2.0",  # for Python before 3.11.3
    "colorama": "BSD-3-Clause",  # for Windows
    "av": "BSD-3-Clause; holds x264 and x265: GPL-2.0-or-later",
    "espeakng-loader": "holds espeak-ng: GPL-3.0-or-later",
    "httpx2-jsfetch": "BSD-3-Clause",  # for browsers
    "pywin32": "PSF-2.0",  # for Windows
    "tzdata": "Apache-2.0",  # for Windows
}
COPYLEFT = re.compile(r"\bA?GPL|\bGNU (?:Affero )?General\b")  # LGPL and "Lesser" are not meant

PAGE_INTRO = """\
What `make run` and the container images install, read from the packages' own metadata. A wheel may
hold libraries under other licences beside it: its `dist-info/licenses` has their texts. The images
also hold Python and Debian's base packages (`/usr/share/doc/*/copyright` in them)."""
MEDIA_INTRO = """\
Only the sandbox's narrated films need these. `MEDIA=no make run` leaves them out, and so does the
image of the portal. Who passes on the image of the sandbox passes on the GPL libraries in it."""


def find_licence_problems(root: Path) -> Iterator[str]:
    own, media = packages(root)
    licences = {name: licence_of(name) for name in [*own, *media]}
    yield from licence_complaints({name: licences[name] for name in own})
    if (root / LICENCES_PAGE).read_text() != render_licences_page(own, media, licences):
        yield f"{LICENCES_PAGE} is not what the locks and the packages say. Run: make fix"


def packages(root: Path) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Names with versions: the product's own, and what the extra `media` adds."""
    own, all_of_run = (
        lock_files.locked_versions((root / name).read_text()) for name in (PRODUCT, MEDIA)
    )
    return own, {name: all_of_run[name] for name in all_of_run if name not in own}


def licence_complaints(licences: Mapping[str, str]) -> Iterator[str]:
    for name, licence in licences.items():
        if not licence:
            yield f"{PRODUCT}: the licence of {name} is not known here; name it in STATED"
        if is_copyleft(licence):
            yield f"{PRODUCT}: {name} is under {licence}; it may only be in the extra `media`"


def is_copyleft(licence: str) -> bool:
    """Whether every licence that one may choose from is the GPL or the AGPL."""
    return all(COPYLEFT.search(choice) for choice in re.split(r"\s+or\s+", licence, flags=re.I))


def licence_of(name: str) -> str:
    """As the package states it; empty where it does not, or is not installed."""
    if name in STATED_LICENCES:
        return STATED_LICENCES[name]
    try:
        fields = metadata(name)
    except PackageNotFoundError:
        return ""
    classifiers = [
        text.rpartition(" :: ")[2]
        for text in fields.get_all("Classifier") or []
        if text.startswith("License :: ")
    ]
    (expression, *_), (text, *_) = (
        fields.get_all(field) or [""] for field in ("License-Expression", "License")
    )
    return expression or " or ".join(sorted(classifiers)) or text.strip().partition("\n")[0]


def render_licences_page(
    own: Mapping[str, set[str]], media: Mapping[str, set[str]], licences: Mapping[str, str]
) -> str:
    return "\n\n".join(
        [
            "<!-- Written by `python -m tests.checks.licences`; change the locks instead. -->",
            "# Licences of the packages",
            PAGE_INTRO,
            render_licences_table(own, licences),
            "## The extra `media`",
            MEDIA_INTRO,
            render_licences_table(media, licences) + "\n",
        ]
    )


def render_licences_table(
    packages: Mapping[str, Iterable[str]], licences: Mapping[str, str]
) -> str:
    rows = [("package", "version", "licence"), ("---",) * 3]
    rows += [(name, ", ".join(sorted(packages[name])), licences[name]) for name in sorted(packages)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write_licences_page(root: Path) -> None:
    own, media = packages(root)
    licences = {name: licence_of(name) for name in [*own, *media]}
    (root / LICENCES_PAGE).write_text(render_licences_page(own, media, licences))


if __name__ == "__main__":
    write_licences_page(ROOT)
