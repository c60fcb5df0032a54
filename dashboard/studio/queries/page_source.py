"""The Source step: the web page of a draft, how its reading goes, and its images in their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

from django.utils import timezone

from dashboard.shared.formatting import clock
from proxyapi.kinds.page_reading import MAX_ATTEMPTS, doubtful_image_reason
from proxyapi.models import Job, JobPart, PageRead, PageReadState
from proxyapi.models.job_part import ASSETS

LEFT_OUT = "Removed"


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image of the page; `reason` says why it is not used."""

    image_id: str
    part: JobPart
    name: str
    size: str
    reason: str


@dataclass(frozen=True, slots=True)
class PageSource:
    """`state` is a `PageReadState`, or empty before the first reading. `title` and `text` are of
    the banner, `error` of the field."""

    url: str = ""
    state: str = ""
    title: str = ""
    text: str = ""
    error: str = ""
    retry_at: datetime | None = None
    attempt_text: str = ""
    read_url: str = ""
    read_at: datetime | None = None
    takes_order: bool = False
    used: tuple[PageImage, ...] = ()
    unused: tuple[PageImage, ...] = ()
    is_arranged: bool = False  # a member changed the order that the reading began with

    @property
    def is_active(self) -> bool:
        return self.state in (PageReadState.READING, PageReadState.WAITING)

    @property
    def image_count(self) -> int:
        return len(self.used) + len(self.unused)

    @property
    def order_text(self) -> str:
        """Return the ids of the used images: what a change of the order was based on."""
        return ",".join(image.image_id for image in self.used)

    @property
    def seconds_to_retry(self) -> int:
        left = self.retry_at - timezone.now() if self.retry_at else timedelta(0)
        return max(0, round(left.total_seconds()))

    @property
    def found_text(self) -> str:
        many = "1 image" if self.image_count == 1 else f"{self.image_count} images"
        return f"{many} found, {len(self.used)} used."


def load_page_source(job: Job) -> PageSource:
    """Two queries; the draft is read with the row that says that its images arrived."""
    row = PageRead.objects.filter(job=job).select_related("job__draft").first()
    if row is None:
        return PageSource()
    parts = {part.remote_id: part for part in JobPart.objects.filter(job=job, list_name=ASSETS)}
    chosen = list(row.job.draft.settings.get(ASSETS) or [])
    used = [str(id) for id in chosen if str(id) in parts]
    unused = [str(id) for id in row.image_ids if str(id) in parts and str(id) not in used]
    at_first = [id for id in row.image_ids if str(id) in parts and not reason_of(parts[str(id)])]
    title, text, error = reading_texts(row)
    return PageSource(
        url=row.url,
        state=row.state,
        title=title,
        text=text,
        error=error,
        retry_at=row.due_at if row.state == PageReadState.WAITING else None,
        attempt_text=f", attempt {row.attempts + 1} of {MAX_ATTEMPTS}" if row.attempts else "",
        read_url=row.read_url,
        read_at=row.read_at,
        takes_order=row.takes_order,
        used=tuple(build_page_images(parts, used)),
        unused=tuple(build_page_images(parts, unused)),
        is_arranged=row.takes_order and chosen not in (at_first, row.image_ids),
    )


def reading_texts(row: PageRead) -> tuple[str, str, str]:
    """Return title and text of the banner, and the error of the address field."""
    if row.state == PageReadState.WAITING and row.message:
        return "The page is not read yet.", row.message, ""
    if row.state == PageReadState.WAITING:
        return (
            "The service is reading pages for others right now.",
            "It shares one reading queue between all its customers.",
            "",
        )
    if row.state == PageReadState.STOPPED:
        return "Reading was stopped.", "Nothing was charged.", ""
    if row.state == PageReadState.DONE and not row.image_ids:
        return "", "", "No images were found on this page. Read another page."
    if row.state != PageReadState.FAILED:
        return "", "", ""
    if row.attempts:
        when = clock(row.ended_at) if row.ended_at else ""
        return f"The page could not be read at {when}.", row.message, ""
    return "", "", row.message


def build_page_images(parts: dict[str, JobPart], ids: Iterable[str]) -> Iterable[PageImage]:
    for number, id in enumerate(ids, start=1):
        part = parts[id]
        yield PageImage(
            image_id=id,
            part=part,
            name=part.text or file_name(part.details.get("source_url")) or f"Image {number}",
            size=size_text(part.details),
            reason=reason_of(part) or LEFT_OUT,
        )


def reason_of(part: JobPart) -> str:
    return doubtful_image_reason({**part.details, "text": part.text})


def file_name(address: object) -> str:
    """Return the name of the file at an address; empty if there is none."""
    try:
        path = urlsplit(str(address or "")).path
    except ValueError:
        return ""
    return unquote(path.rsplit("/", 1)[-1])[:80]


def size_text(details: dict[str, Any]) -> str:
    """Return `1600 × 900` if the service says how large the image is."""
    sides = (details.get("width"), details.get("height"))
    return f"{sides[0]} × {sides[1]}" if all(isinstance(side, int) for side in sides) else ""
