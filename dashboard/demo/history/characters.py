"""The characters of the demo's past: two that are trained, and one whose picture is chosen.

Their photos are plain colours, made here; the sandbox draws the pictures from those colours when
somebody looks at them.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from dashboard.demo.history.account import PastAccount
from dashboard.demo.history.replay import Call, build_call
from dashboard.demo.history.rows import PastRows
from dashboard.models import CharacterPhoto
from proxyapi.kinds import KINDS
from proxyapi.kinds.job_parts import parse_part_list
from proxyapi.models import CharacterGenres, ChargeState, Draft, Job, JobKind, JobPart, JobState
from proxyapi.models.account import parse_timestamp
from proxyapi.models.job_part import PREVIEWS
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION

PREVIEW_AFTER, TRAINING_AFTER = timedelta(minutes=1), timedelta(minutes=4)
READ_AFTER = timedelta(minutes=4, seconds=25)
POLL_DELAY = timedelta(seconds=2)  # from the end of a training to the poll that saw it
PHOTO_SIZE = (480, 600)  # pixels
Colour = tuple[int, int, int]


class PastCharacter(NamedTuple):
    """`day` counts from the start of the past; `genre` is a place in the service's list."""

    name: str
    age: int
    gender: str
    member: str
    day: int
    genre: int
    is_trained: bool
    ground: Colour
    skin: Colour

    @property
    def file_name(self) -> str:
        return f"{self.name.lower()}-portrait.png"


PAST_CHARACTERS = (
    PastCharacter("Ingrid", 41, "female", "Luca", 12, 5, True, (214, 200, 180), (226, 182, 150)),
    PastCharacter("Henrik", 67, "male", "Priya", 31, 0, True, (150, 172, 176), (206, 164, 134)),
    PastCharacter("Otto", 34, "male", "Luca", 57, 1, False, (222, 214, 190), (190, 140, 108)),
)


def draw_photo(character: PastCharacter) -> bytes:
    """A PNG: the colour of the skin in the middle of that of the ground."""
    width, height = PHOTO_SIZE
    ground, skin = bytes(character.ground), bytes(character.skin)
    edge, face = b"\0" + ground * width, ground * (width // 4)
    middle = b"\0" + face + skin * (width // 2) + face
    rows = edge * (height // 4) + middle * (height // 2) + edge * (height // 4)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def character_calls(account: PastAccount, tokens: Mapping[str, str]) -> Iterator[Call]:
    """The calls of all characters; `tokens` by the first names of the members."""
    for one in PAST_CHARACTERS:
        at, auth = account.opened_at + timedelta(days=one.day), {"token": tokens[one.member]}
        path, content = f"/v2/characters/{{{one.name}.data.id}}", draw_photo(one)
        file = {"field": "image", "name": "photo.png", "content_type": "image/png"}
        file["content"] = base64.b64encode(content).decode()
        yield build_call(at, "POST", "/v2/characters", name=one.name, file=file, **auth)
        genre = {"genre_id": account.character_genres[one.genre]["id"]}
        previews = {"name": f"{one.name} previews", "body": genre}
        yield build_call(at + PREVIEW_AFTER, "POST", f"{path}/preview", **previews, **auth)
        if one.is_trained:
            facts = {"name": one.name, "age": one.age, "gender": one.gender}
            body = {"preview_id": f"{{{one.name} previews.data.previews.0.id}}", **facts}
            training = {"name": f"{one.name} training", "body": body}
            yield build_call(at + TRAINING_AFTER, "POST", f"{path}/train", **training, **auth)
        yield build_call(at + READ_AFTER, "GET", path, name=f"{one.name} read", **auth)


def store_characters(rows: PastRows, genres: list[dict[str, Any]], now: datetime) -> None:
    """Store what the portal has of them. `rows` has no rows yet, but what rows are made of."""
    for one in PAST_CHARACTERS:
        add_character(rows, one)
    rows.save()
    CharacterPhoto.objects.bulk_create(map(build_photo, rows.jobs, PAST_CHARACTERS))
    named = [{"id": genre["id"], "name": genre["name"]} for genre in genres]
    CharacterGenres.objects.create(account=rows.account, genres=named, read_at=now, tried_at=now)


def add_character(rows: PastRows, one: PastCharacter) -> None:
    created, answers = rows.answers[one.name], rows.answers
    job = Job(
        tenant_id=rows.account.tenant_id,
        account=rows.account,
        token=rows.tokens[one.member],
        member=rows.members[one.member].user,
        kind=JobKind.CHARACTER,
        remote_id=str(created.data["id"]),
        title=one.name,
        created_at=created.at,
    )
    rows.jobs.append(job)
    previews, record = answers[f"{one.name} previews"], answers[f"{one.name} read"]
    body = {"genre_id": previews.data["previews"][0]["genre_id"]}
    charge = rows.build_charge(job, PREVIEW_OPERATION, previews.at, Decimal(0))
    charge.body = body
    rows.settle_charge(charge, Decimal(0), 200)
    charge.state = ChargeState.MATCHED
    for id_, fields in (parse_part_list(record.data, PREVIEWS) or {}).items():
        part = JobPart(job=job, list_name=PREVIEWS, remote_id=id_, read_at=record.at, **fields)
        part.charge = charge
        rows.parts.append(part)
    chosen = previews.data["previews"][0]["id"]
    facts = {"preview_id": chosen, "name": one.name, "age": one.age, "gender": one.gender}
    rows.drafts.append(Draft(job=job, settings={**body, **facts}, edited_at=previews.at))
    if one.is_trained:
        answer = answers[f"{one.name} training"]
        charge = rows.build_charge(job, TRAINING_OPERATION, answer.at, Decimal(answer.cost))
        charge.body = facts
        rows.settle_charge(charge, Decimal(answer.cost), 202)
        finish_training(job, answer.at, record.at, record.data)


def finish_training(job: Job, sent_at: datetime, read_at: datetime, record: dict[str, Any]) -> None:
    """Store what the last poll read."""
    reading = KINDS[job.kind].read_status(record)
    ended_at = (parse_timestamp(record.get("updated_at")) or read_at) + POLL_DELAY
    job.state, job.raw_status = reading.state or JobState.RUNNING, reading.raw_status
    job.started_at, job.polled_at, job.finished_at = sent_at, ended_at, ended_at


def build_photo(job: Job, one: PastCharacter) -> CharacterPhoto:
    content, (width, height) = draw_photo(one), PHOTO_SIZE
    return CharacterPhoto(
        job=job,
        name=one.file_name,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        width=width,
        height=height,
        confirmed_by=job.member,
        confirmed_at=job.created_at,
    )
