"""Static files: collected beside those of the last release, and served with them.

While a release replaces another, a page of one may ask the other for its style sheet. Names carry
a hash of what is in the file, so files of several releases lie in one folder.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.management.commands import collectstatic
from django.core.management import call_command
from django.http import HttpRequest, HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware

from dashboard.static_files import bundles
from dashboard.static_files.bundles import BundlingStorage

# Pages link one script of django-htmx; to collect the others took longer than all of ours.
IGNORED_PATTERNS = ["htmax-*", "htmx-4*", "htmx-2.js", "ext"]


class AssetsMiddleware(ServeStaticMiddleware):  # type: ignore[misc]
    """Also answers with files that another release collected, after this process started."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path, late = request.path_info, None
        if path.startswith(self.static_prefix) and path not in self.files:
            late = await asyncio.to_thread(self.find_file, path)
        serving = super().__call__(request) if late is None else self.aserve(late, request)
        answer: HttpResponseBase = await serving
        return answer


def is_static_collected() -> bool:
    """Whether no source is new, gone or different since."""
    seen = static_stamp_path()
    return (
        seen.is_file()
        and seen.read_text() == static_source_fingerprint()
        and settings.STATIC_ROOT.is_dir()
    )


def collect_static_files() -> None:
    """Put each file into its place as a whole, the manifest last. Those of the last release stay,
    for it may still serve; those of earlier ones go. Does nothing when it is done."""
    with static_lock():
        if is_static_collected():
            return
        now = static_source_fingerprint()
        fresh = settings.VAR / "static.new"
        shutil.rmtree(fresh, ignore_errors=True)  # of a run that was killed
        command = collectstatic.Command()
        command.storage = BundlingStorage(location=str(fresh))
        call_command(command, interactive=False, verbosity=0, ignore_patterns=IGNORED_PATTERNS)
        merge_release(fresh, settings.STATIC_ROOT)
        shutil.rmtree(fresh)
        static_stamp_path().write_text(now)


@contextmanager
def static_lock() -> Iterator[None]:
    """Whoever comes second, when two containers start at once, would take the first one's release
    for the last one, and remove what is served."""
    with (settings.VAR / "static.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def merge_release(fresh: Path, root: Path) -> None:
    """Killed at any point, the manifest names the release before, of which nothing is missing; or
    this one, which is then not taken for the last one when it is laid again."""
    last = manifest_files(root)
    names = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    manifest = Path(BundlingStorage.manifest_name)
    for name in names - {manifest}:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(root / name)
    for path in [] if manifest_files(fresh) == last else root.rglob("*"):
        name = path.relative_to(root)
        plain = name.as_posix()
        for suffix in (".gz", ".br", ".zstd"):
            plain = plain.removesuffix(suffix)
        if path.is_file() and name not in names and plain not in last:
            path.unlink(missing_ok=True)
    (fresh / manifest).replace(root / manifest)


def manifest_files(folder: Path) -> set[str]:
    """The files that its manifest names; none without one."""
    return set(BundlingStorage(location=str(folder)).hashed_files.values())


def static_stamp_path() -> Path:
    return Path(settings.VAR / "static.stamp")


def static_source_fingerprint() -> str:
    """Of every source file that is used: its place, its size, its time; and of how they are
    bundled."""
    seen = hashlib.sha256(Path(bundles.__file__).read_bytes())
    for finder in get_finders():
        for name, storage in finder.list(IGNORED_PATTERNS):
            status = Path(storage.path(name)).stat()
            seen.update(f"{storage.path(name)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return seen.hexdigest()
