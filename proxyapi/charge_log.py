"""The charge log: every charging request, its answer and its end, recorded outside the database.

A database that goes back in time (a restored backup, a failover to a lagging replica) forgets what
was sent. This log does not: a request is recorded just before it is sent, in Redis for a day and in
a file per UTC day under CHARGE_LOG_DIR for `RETENTION_DAYS`. `charges.recovery` compares the two
and restores what the database lost (docs/decisions/0016-charge-log.md).

Records hold what the tables hold, settings and texts of videos, and never a token.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import redis
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.redis_client import connect_redis

RETENTION_DAYS = 14
REDIS_TTL_S = 86_400
NEWEST_KEY = "reelroom:charge-log:newest"
UNWRITABLE_KEY = "reelroom:charge-log:unwritable"
UNWRITABLE_TTL_S = 300  # seconds; a held charge tries again every few seconds
RECORD_KEY_PREFIX = "reelroom:charge-log:record"
log = logging.getLogger(__name__)


class ChargeLogUnwritable(RateLimiterUnavailable):
    """The disk of the charge log is full or away: a restored database would send again."""

    @property
    def user_message(self) -> str:
        return (
            "Nothing was sent. The disk of the charge log cannot be written. It is sent as soon as "
            "the operator of this installation has made room."
        )


class ChargeLogKind(StrEnum):
    REQUEST = "request"  # about to be sent; `content` has the rows of the charge and its job
    ANSWER = "answer"  # a success was answered; `content` has its data and cost
    END = "end"  # the charge was settled; `content` has its state, cost and reason
    CHECKPOINT = "checkpoint"  # the database of this epoch has everything that was recorded before


@dataclass(frozen=True, slots=True)
class ChargeLogRecord:
    """One line of the log. `attempt` counts the sendings of a charge, from 1; `epoch` is the id of
    the database's epoch (`DatabaseEpoch`); `at` is UTC, ISO 8601."""

    kind: ChargeLogKind
    epoch: str
    charge: str = ""
    attempt: int = 0
    at: str = field(default_factory=lambda: timezone.now().isoformat())
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.charge}:{self.attempt}:{self.kind}"

    def to_json(self) -> str:
        return json.dumps(asdict(self), cls=DjangoJSONEncoder, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> ChargeLogRecord:
        """Raises ValueError for a line that was cut off."""
        try:
            fields = json.loads(text)
            return cls(**{**fields, "kind": ChargeLogKind(fields["kind"])})
        except (TypeError, KeyError) as error:
            raise ValueError("not a charge log record") from error


def append_request_record(record: ChargeLogRecord) -> bool:
    """Record a request just before it is sent. Return False if the same attempt is already
    recorded: it was sent, and the database has forgotten it.

    Raises `RateLimiterUnavailable` if Redis does not answer and `ChargeLogUnwritable` if the file
    cannot be written: nothing may be sent then.
    """
    try:
        with connect_redis().pipeline(transaction=True) as pipeline:
            pipeline.set(_redis_key(record), record.to_json(), nx=True, ex=REDIS_TTL_S)
            pipeline.set(NEWEST_KEY, record.to_json())
            is_new = bool(pipeline.execute()[0])
    except redis.RedisError:
        raise RateLimiterUnavailable(1.0) from None
    if is_new and not _append_to_file(record):
        raise ChargeLogUnwritable(1.0)
    return is_new


def append_result_record(record: ChargeLogRecord) -> None:
    """Record an answer or an end, as far as the stores can be written; the ledger shows the same
    later."""
    try:
        connect_redis().set(_redis_key(record), record.to_json(), ex=REDIS_TTL_S)
    except redis.RedisError:
        log.warning("an answer was not recorded in Redis, which does not respond")
    _append_to_file(record)


def append_checkpoint_record(epoch: str) -> None:
    """Record that this epoch of the database is complete. Raises `RateLimiterUnavailable`."""
    record = ChargeLogRecord(ChargeLogKind.CHECKPOINT, epoch)
    try:
        connect_redis().set(NEWEST_KEY, record.to_json())
    except redis.RedisError:
        raise RateLimiterUnavailable(1.0) from None
    _append_to_file(record)


def newest_record() -> ChargeLogRecord | None:
    """The newest request or checkpoint, or None if there is none. Raises
    `RateLimiterUnavailable`."""
    try:
        value = cast("bytes | None", connect_redis().get(NEWEST_KEY))
    except redis.RedisError:
        raise RateLimiterUnavailable(1.0) from None
    if value is not None:
        return ChargeLogRecord.from_json(value)
    return newest_record_on_disk()


def newest_record_on_disk() -> ChargeLogRecord | None:
    for path in reversed(_log_files()):
        for record in reversed(list(_read_log_file(path))):
            if record.kind in (ChargeLogKind.REQUEST, ChargeLogKind.CHECKPOINT):
                return record
    return None


def load_log_records() -> list[ChargeLogRecord]:
    """All records of Redis and the files, each once, oldest first. Raises
    `RateLimiterUnavailable`."""
    by_key = {record.key: record for path in _log_files() for record in _read_log_file(path)}
    try:
        keys = list(connect_redis().scan_iter(f"{RECORD_KEY_PREFIX}:*", count=1000))
        values = cast("list[bytes | None]", connect_redis().mget(keys)) if keys else []
    except redis.RedisError:
        raise RateLimiterUnavailable(1.0) from None
    for record in map(ChargeLogRecord.from_json, filter(None, values)):
        by_key[record.key] = record
    return sorted(by_key.values(), key=lambda record: record.at)


def prune_log_files() -> None:
    """Delete the files of days that are older than `RETENTION_DAYS`."""
    oldest = timezone.now().date() - timedelta(days=RETENTION_DAYS)
    for path in _log_files():
        if date.fromisoformat(path.stem) < oldest:
            path.unlink(missing_ok=True)


def _redis_key(record: ChargeLogRecord) -> str:
    return f"{RECORD_KEY_PREFIX}:{record.key}"


def is_unwritable() -> bool:
    """Whether the last record, of the last minutes, could not be written to disk. Asked of Redis:
    the process that asks may have another disk. Raises `redis.RedisError`."""
    return bool(connect_redis().exists(UNWRITABLE_KEY))


def _append_to_file(record: ChargeLogRecord) -> bool:
    """Write one line in a single write and sync it, so that lines of several processes do not mix.
    Return False if that failed."""
    folder: Path = settings.CHARGE_LOG_DIR
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{timezone.now().date()}.jsonl"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{record.to_json()}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        log.error("the charge log cannot be written to disk: %s", error.strerror)
        with suppress(redis.RedisError):
            connect_redis().set(UNWRITABLE_KEY, 1, ex=UNWRITABLE_TTL_S)
        return False
    with suppress(redis.RedisError):
        connect_redis().delete(UNWRITABLE_KEY)
    return True


def _log_files() -> list[Path]:
    return sorted(settings.CHARGE_LOG_DIR.glob("????-??-??.jsonl"))


def _read_log_file(path: Path) -> Iterator[ChargeLogRecord]:
    """The records of a file, without a line that a crash cut off."""
    with path.open("rb") as lines:
        for line in lines:
            try:
                yield ChargeLogRecord.from_json(line)
            except ValueError:
                log.warning("a line of %s cannot be read", path.name)
