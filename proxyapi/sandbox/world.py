"""The world: every row in memory, the changed ones saved after every request.

Handlers run on one event loop and never wait in the middle of a change, so each request is
atomic. Whoever changes a row puts it back with `table.put(row)`; `commit` saves what was put.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heappush
from random import Random
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError
from starlette.types import Scope

from proxyapi.sandbox import records, resource_rows
from proxyapi.sandbox.clock import ClockState, SandboxClock
from proxyapi.sandbox.records import Key, Row
from proxyapi.sandbox.settings import Settings
from proxyapi.sandbox.store import Address, Store
from proxyapi.sandbox.storyboards.rows import Storyboard

R = TypeVar("R", bound=Row)


class Table(Generic[R]):
    """Rows of one kind by id, in order of their making."""

    def __init__(self, kind: str, model: type[R], dirty: dict[Address, Row | None]) -> None:
        self.kind = kind
        self.model = model
        self.rows: dict[Key, R] = {}
        self._dirty = dirty

    def get(self, key: Key | None) -> R | None:
        return self.rows.get(key) if key is not None else None

    def put(self, row: R) -> R:
        self.rows[row.id] = row
        self._dirty[self.kind, str(row.id)] = row
        return row

    def drop(self, key: Key) -> None:
        del self.rows[key]
        self._dirty[self.kind, str(key)] = None

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows.values())

    def __len__(self) -> int:
        return len(self.rows)


class _SavedValues(NamedTuple):
    """What the notes of a saved world tell; None what they do not."""

    seed: int | None
    settings: Settings | None
    clock: ClockState | None

    @classmethod
    def read(cls, notes: dict[str, Any]) -> _SavedValues:
        """Raises ValueError or TypeError for a note that cannot be."""
        return cls(
            int(notes["seed"]) if "seed" in notes else None,
            Settings(**notes["settings"]) if "settings" in notes else None,
            ClockState(**notes["clock"]) if "clock" in notes else None,
        )


class InFlight(NamedTuple):
    """A request whose connection was dropped, and the instant at which it arrives all the same."""

    at: float
    number: int
    scope: Scope
    body: bytes
    fault: records.Fault


class World:
    def __init__(
        self, *, seed: int | None, clock: SandboxClock, store: Store | None = None
    ) -> None:
        self.clock = clock
        self.store = store
        self.settings = Settings()
        self._dirty: dict[Address, Row | None] = {}
        self._emptied = False  # since the last commit
        self._commits_held = False
        self._create_tables()
        self._set_seed(seed)
        if store is not None:
            self._load(store)

    def _create_tables(self) -> None:
        dirty = self._dirty
        self.accounts = Table("account", records.Account, dirty)
        self.tokens = Table("token", records.Token, dirty)
        self.entries = Table("entry", records.Entry, dirty)
        self.charges = Table("charge", records.Charge, dirty)
        self.top_ups = Table("top_up", records.TopUp, dirty)
        self.videos = Table("video", records.Video, dirty)
        self.jobs = Table("job", records.Job, dirty)
        self.stills = Table("still", records.Still, dirty)
        self.storyboards = Table("storyboard", Storyboard, dirty)
        self.clips = Table("clip", resource_rows.Clip, dirty)
        self.searches = Table("search", resource_rows.Search, dirty)
        self.characters = Table("character", resource_rows.Character, dirty)
        self.clones = Table("clone", resource_rows.Clone, dirty)
        self.outcomes = Table("outcome", records.Outcome, dirty)
        self.windows = Table("window", records.Window, dirty)
        self.visits = Table("visit", records.JournalLine, dirty)
        self.faults = Table("fault", records.Fault, dirty)
        self.leaving = Table("leaving", records.FileToRemove, dirty)
        self.notes = Table("note", records.SavedValue, dirty)
        self.ledgers: dict[int, list[records.Entry]] = defaultdict(list)
        self.agenda: list[tuple[float, int]] = []  # a heap: when to look at which job
        self.in_flight: list[InFlight] = []  # a heap; a restart loses them

    @property
    def tables(self) -> dict[str, Table[Any]]:
        return {it.kind: it for it in vars(self).values() if isinstance(it, Table)}

    @property
    def now(self) -> float:
        return self.clock.now()

    # Numbers and chance

    def number(self, purpose: str) -> int:
        """The next number of a purpose: 1, 2, 3, …"""
        note = self.notes.get(purpose) or records.SavedValue(id=purpose, value=0)
        note.value += 1
        self.notes.put(note)
        return int(note.value)

    def random_source(self, purpose: str) -> Random:
        """A fresh source of chance: the same for the same seed and the same calls before."""
        number = self.number(f"chance:{purpose}")
        # Not for cryptography: a given seed must give the same world again.
        return Random(f"{self.seed}/{purpose}/{number}")  # noqa: S311

    def named_random_source(self, name: str) -> Random:
        """Chance that is the same for the same seed and name, whatever was called before."""
        return Random(f"{self.seed}/{name}")  # noqa: S311

    def plausible_id(self, purpose: str, first: int) -> int:
        """Rising ids with gaps, like those of a service that has other customers."""
        note = self.notes.get(f"id:{purpose}") or records.SavedValue(
            id=f"id:{purpose}", value=first
        )
        note.value += self.random_source(purpose).randint(1, 19)
        self.notes.put(note)
        return int(note.value)

    def schedule_job(self, job_id: int, when: float | None = None) -> None:
        """Have a job brought forward at an instant, or now."""
        heappush(self.agenda, (0.0 if when is None else when, job_id))

    def remove_file_later(self, name: str) -> None:
        """Have a media file removed that nothing shows any more, once that is saved."""
        self.leaving.put(records.FileToRemove(id=name))

    # The ledger's order is its identity, so it is kept per account as it was written.

    def add_entry(self, entry: records.Entry) -> records.Entry:
        self.ledgers[entry.account_id].append(entry)
        return self.entries.put(entry)

    # Saving

    def store_settings(self, settings: Settings) -> None:
        self.settings = settings
        self.notes.put(records.SavedValue(id="settings", value=settings.model_dump()))

    def store_clock(self) -> None:
        self.notes.put(records.SavedValue(id="clock", value=self.clock.state.model_dump()))

    def commit(self) -> None:
        """Save the rows put since the last commit.

        A row that cannot become JSON raises ValueError, once: the others are saved before.
        """
        if self._commits_held:
            return
        bodies: dict[Address, str | None] = {}
        broken: ValueError | None = None
        for at, row in self._dirty.items():
            try:
                bodies[at] = row.model_dump_json() if row else None
            except ValueError as error:
                broken = error
        if bodies and self.store is not None:
            self.store.write(bodies, clear=self._emptied)
        self._dirty.clear()
        self._emptied = False
        if broken is not None:
            raise broken

    @contextmanager
    def held_commits(self) -> Iterator[None]:
        """Save nothing within: what is put is saved by the next commit after it, or not at all."""
        self._commits_held = True
        try:
            yield
        finally:
            self._commits_held = False

    def empty(self, seed: int | None = None) -> None:
        """Start again with nothing: no accounts, settings at their defaults.

        What is saved stays until the commit, so that a kill leaves one whole world.
        """
        self._dirty.clear()
        self._emptied = True
        self._create_tables()
        self.settings = Settings()
        self._set_seed(self.seed if seed is None else seed)
        self.store_clock()

    def snapshot(self) -> dict[str, list[dict[str, Any]]]:
        self.store_clock()
        return {
            kind: [row.model_dump(mode="json") for _, row in sorted(table.rows.items())]
            for kind, table in self.tables.items()
        }

    def restore(self, snapshot: dict[str, list[dict[str, Any]]]) -> None:
        """Replace the world; a bad snapshot raises ValueError, changing nothing."""
        tables = self.tables
        if unknown := snapshot.keys() - tables.keys():
            raise ValueError(f"there are no rows of kind {min(unknown)!r}.")
        rows = [_read(tables[kind].model, row) for kind in snapshot for row in snapshot[kind]]
        notes = {row.id: row.value for row in rows if isinstance(row, records.SavedValue)}
        told = _SavedValues.read(notes)
        self.empty()
        by_model = {table.model: table for table in self.tables.values()}
        for row in rows:
            by_model[type(row)].put(row)
        self._apply_saved_values(told)
        if told.clock is not None:
            self.clock.state = told.clock

    def _load(self, store: Store) -> None:
        tables = self.tables
        found = {kind: rows for kind, rows in store.read().items() if kind in tables}
        if not found:
            self.store_clock()
            return
        self._dirty.clear()
        for kind, rows in found.items():
            table = tables[kind]
            read = TypeAdapter(list[table.model]).validate_json(rows)  # type: ignore[name-defined]
            table.rows = {row.id: row for row in read}
        told = _SavedValues.read({note.id: note.value for note in self.notes})
        self._apply_saved_values(told)
        if told.clock is not None:
            self.clock.restore(told.clock)

    def _apply_saved_values(self, told: _SavedValues) -> None:
        for table in self.tables.values():
            in_order = sorted(table.rows.values(), key=lambda row: row.sort_key)
            table.rows = {row.id: row for row in in_order}
        for entry in self.entries:
            self.ledgers[entry.account_id].append(entry)
        for job in self.jobs:
            if not job.ended:
                self.schedule_job(job.id)
        if told.seed is not None:
            self.seed = told.seed
        if told.settings is not None:
            self.settings = told.settings

    def _set_seed(self, seed: int | None) -> None:
        self.seed = secrets.randbits(48) if seed is None else seed
        self.notes.put(records.SavedValue(id="seed", value=self.seed))


def _read(model: type[R], row: dict[str, Any]) -> R:
    """Raises ValueError in a sentence that names the row and what is wrong with it."""
    try:
        return model(**row)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"]))
        raise ValueError(f"{model.__name__} {row.get('id')}: {place}: {wrong['msg']}.") from error
