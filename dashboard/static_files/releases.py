"""Static files of a release, collected next to those of the previous release and served together.

While one release replaces another, a page of one may request a style sheet from the other. File
names contain a hash of the content, so the files of several releases share one folder.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.management.commands import collectstatic
from django.core.management import call_command
from django.http import HttpRequest, HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware

from dashboard.static_files import bundles
from dashboard.static_files.bundles import BundlingStorage

# Pages link one script of django-htmx; collecting the others took longer than all of ours.
IGNORED_PATTERNS = ["htmax-*", "htmx-4*", "htmx-2.js", "ext"]


class AssetsMiddleware(ServeStaticMiddleware):  # type: ignore[misc]
    """Also serves files that another release collected after this process started, and never the
    manifest, which lists what no page links."""

    def add_file_to_dictionary(self, url: str, *arguments: Any, **named: Any) -> None:
        if url != f"{self.static_prefix}{BundlingStorage.manifest_name}":
            super().add_file_to_dictionary(url, *arguments, **named)

    def find_file(self, url: str) -> Any:
        is_manifest = url == f"{self.static_prefix}{BundlingStorage.manifest_name}"
        return None if is_manifest else super().find_file(url)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path, found_file = request.path_info, None
        if path.startswith(self.static_prefix) and path not in self.files:
            found_file = await asyncio.to_thread(self.find_file, path)
        pending_response = (
            super().__call__(request) if found_file is None else self.aserve(found_file, request)
        )
        response: HttpResponseBase = await pending_response
        return response


def is_static_collected() -> bool:
    """True if no source file was added, removed or changed since the last collection."""
    stamp = static_stamp_path()
    return (
        stamp.is_file()
        and stamp.read_text() == static_source_fingerprint()
        and settings.STATIC_ROOT.is_dir()
    )


def collect_static_files() -> None:
    """Collect the static files, each atomically and the manifest last; do nothing if they are up to
    date. Files of the previous release stay, because it may still serve; those of earlier ones are
    removed."""
    with static_lock():
        if is_static_collected():
            return
        fingerprint = static_source_fingerprint()
        new_folder = settings.VAR / "static.new"
        shutil.rmtree(new_folder, ignore_errors=True)  # from a killed run
        command = collectstatic.Command()
        command.storage = BundlingStorage(location=str(new_folder))
        call_command(command, interactive=False, verbosity=0, ignore_patterns=IGNORED_PATTERNS)
        merge_release(new_folder, settings.STATIC_ROOT)
        shutil.rmtree(new_folder)
        static_stamp_path().write_text(fingerprint)


@contextmanager
def static_lock() -> Iterator[None]:
    """Run one collection at a time: of two containers that start at once, the second would take the
    first one's release for the previous one and remove files that are served."""
    with (settings.VAR / "static.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def merge_release(new_folder: Path, root: Path) -> None:
    """Move the new files into `root`, and remove those of neither this nor the previous release.

    If it is killed at any point, the manifest names either the previous release, of which no file
    is missing, or this one, which is then not taken for the previous one when it is merged again.
    """
    previous_files = manifest_files(root)
    names = {path.relative_to(new_folder) for path in new_folder.rglob("*") if path.is_file()}
    manifest = Path(BundlingStorage.manifest_name)
    for name in names - {manifest}:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (new_folder / name).replace(root / name)
    for path in [] if manifest_files(new_folder) == previous_files else root.rglob("*"):
        name = path.relative_to(root)
        uncompressed_name = name.as_posix()
        for suffix in (".gz", ".br", ".zstd"):
            uncompressed_name = uncompressed_name.removesuffix(suffix)
        if path.is_file() and name not in names and uncompressed_name not in previous_files:
            path.unlink(missing_ok=True)
    (new_folder / manifest).replace(root / manifest)


def manifest_files(folder: Path) -> set[str]:
    """The files that the folder's manifest names; none without a manifest."""
    return set(BundlingStorage(location=str(folder)).hashed_files.values())


def static_stamp_path() -> Path:
    return Path(settings.VAR / "static.stamp")


def static_source_fingerprint() -> str:
    """A hash of path, size and time of every source file, and of the bundling code."""
    digest = hashlib.sha256(Path(bundles.__file__).read_bytes())
    for finder in get_finders():
        for name, storage in finder.list(IGNORED_PATTERNS):
            status = Path(storage.path(name)).stat()
            digest.update(f"{storage.path(name)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
