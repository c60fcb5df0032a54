"""For every test: the people, real servers out of wheels, an empty Redis."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings
from django.template import Template
from django.test.utils import instrumented_test_render  # type: ignore[attr-defined]

from dashboard.shared.setup_required import SetupRequiredMiddleware
from tests import servers
from tests.emptied_tables import delete_rows_instead_of_flush
from tests.external_state import empty_external_state
from tests.migrated_database import copy_migrated_database
from tests.open_connections import close_connections_of_threads, watch_connections
from tests.settings import ON_POSTGRES, TEST_DIR
from tests.wide_frame import use_wide_frames

use_wide_frames()
pytest_plugins = ["tests.people"]
# How long an example takes tells of the machine.
SLOW_HEALTH_CHECKS = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=SLOW_HEALTH_CHECKS
)
hypothesis.settings.load_profile("untimed")
POSTGRES_WORDS = ("transaction=True", "transactional_db", "postgresql")
PAGE_FIXTURES = {"client", "client_of", "async_client", "urls"}
# As it is before pytest-django replaces it.
RENDER_TEMPLATE = Template._render  # type: ignore[attr-defined]
MAX_ID_LENGTH = 1000  # characters of a parameter
# Allocations between two collections of garbage. With Python's 700 they are a thirtieth of a test.
GC_THRESHOLD = 20_000
STOP_CALLBACKS = pytest.StashKey[list[Callable[[], None]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--postgresql", action="store_true", help="Only what PostgreSQL can change.")


def pytest_configure(config: pytest.Config) -> None:
    """The first process starts PostgreSQL; each process that runs tests starts its own Valkey."""
    stops = config.stash[STOP_CALLBACKS] = []
    is_worker = hasattr(config, "workerinput")
    if not is_worker:
        TEST_DIR.mkdir(mode=0o700)
        (TEST_DIR / "var" / "static").mkdir(parents=True)
        stops.append(lambda: shutil.rmtree(TEST_DIR, ignore_errors=True))
    if ON_POSTGRES and not is_worker:
        stops.append(servers.start_postgres())
    runs_tests = is_worker or not config.getoption("numprocesses", None)
    if runs_tests and settings.REDIS_URL.startswith(f"unix://{TEST_DIR}"):
        stops.append(servers.start_valkey())


def pytest_unconfigure(config: pytest.Config) -> None:
    stops = config.stash.get(STOP_CALLBACKS, [])
    while stops:
        stops.pop()()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A name of megabytes takes a second to escape, and is sent to the first process."""
    if isinstance(val, str | bytes) and len(val) > MAX_ID_LENGTH:
        return f"{argname} of {len(val)}"
    return None


def pytest_itemcollected(item: pytest.Item) -> None:
    """A file whose tests share a fixture is run by one process, which makes it once."""
    info = getattr(item, "_fixtureinfo", None)
    fixtures = info.name2fixturedefs.values() if info else ()
    if any(one.scope in ("module", "package") for named in fixtures for one in named):
        item.add_marker(pytest.mark.xdist_group(str(item.path)))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """To import a file of tests takes longer than to see that none of them is for PostgreSQL."""
    is_left_out = config.getoption("--postgresql") and collection_path.name.startswith("test_")
    return True if is_left_out and not may_be_for_postgres(collection_path) else None


def may_be_for_postgres(path: Path) -> bool:
    """True if the file, or the fixtures of its folder, name what `is_for_postgres` looks at."""
    files = (path, path.with_name("conftest.py"))
    text = "".join(file.read_text() for file in files if file.exists())
    return any(word in text for word in POSTGRES_WORDS)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones first: at the end, one would leave the other processes with nothing to do."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if config.getoption("--postgresql"):
        config.hook.pytest_deselected(items=[item for item in items if not is_for_postgres(item)])
        items[:] = [item for item in items if is_for_postgres(item)]
    else:
        check_collected_for_postgres(items)


def check_collected_for_postgres(items: list[pytest.Item]) -> None:
    """Fail for a file that `--postgresql` would leave out although it has such a test."""
    tests = (item for item in items if item.get_closest_marker("drill") is None)
    paths = {item.path for item in tests if is_for_postgres(item)}
    if missed := sorted(str(path) for path in paths if not may_be_for_postgres(path)):
        problem = f"No word of POSTGRES_WORDS is in {', '.join(missed)}."
        sys.stderr.write(f"{problem}\n")  # what a process of pytest-xdist raises here is not shown
        raise pytest.UsageError(problem)


def is_for_postgres(item: pytest.Item) -> bool:
    """True if it is transactional or has the mark `postgresql`, as a test or a case of it.

    A file with the mark is one about queries, locks or constraints: of its tests those that ask the
    database without a page, each with the first case of its parameters.
    """
    if not asks_database(item) or item.get_closest_marker("postgresql") is None:
        return is_transactional(item)
    is_marked_itself = any(mark.name == "postgresql" for mark in item.own_markers)
    is_view_test = bool(PAGE_FIXTURES & set(getattr(item, "fixturenames", ())))
    is_asked_once = not is_view_test and is_first_case(item)
    return is_marked_itself or is_asked_once or is_transactional(item)


def is_first_case(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is None or not any(callspec.indices.values())


def is_transactional(item: pytest.Item) -> bool:
    django_db = item.get_closest_marker("django_db")
    uses_fixture = "transactional_db" in getattr(item, "fixturenames", ())
    return uses_fixture or bool(django_db and django_db.kwargs.get("transaction"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freeze what thousands of tests have imported: garbage collection then leaves it out."""
    gc.set_threshold(GC_THRESHOLD)
    if hasattr(session.config, "workerinput") and session.config.getoption("loadgroup"):
        marked = (item for item in session.items if item.get_closest_marker("xdist_group"))
        if any("@" not in item.nodeid for item in marked):
            raise pytest.UsageError("pytest-xdist does not keep the tests of a group together.")
    gc.collect()
    gc.freeze()


def asks_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None, django_db_use_migrations: bool) -> bool:
    """True if pytest-django finds the tables there: on SQLite they are copied."""
    if is_copied := django_db_use_migrations and not ON_POSTGRES:
        copy_migrated_database(Path(settings.DATABASES["default"]["TEST"]["NAME"]))
    return is_copied


@pytest.fixture(scope="session", autouse=True)
def _plain_templates(django_test_environment: None) -> None:
    """Else each answer keeps a copy of the context of every template that it includes."""
    Template._render = RENDER_TEMPLATE  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def _deleted_rows() -> None:
    delete_rows_instead_of_flush()


@pytest.fixture(scope="session", autouse=True)
def _watched_connections() -> None:
    watch_connections()


@pytest.fixture(autouse=True)
def _no_open_connection() -> Iterator[None]:
    """Fails a test of which a thread leaves a connection open."""
    yield
    left = close_connections_of_threads()
    assert not left, f"threads that left a connection to the database open: {', '.join(left)}"


@pytest.fixture
def template_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers have `context`. Slow: rather look at what the page shows."""
    monkeypatch.setattr(Template, "_render", instrumented_test_render)


@pytest.fixture(autouse=True)
def _empty_redis() -> Iterator[None]:
    """Throttles, allowances, queues and the charge log of one test are nobody else's."""
    empty_external_state()
    yield


@pytest.fixture(autouse=True)
def _has_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are of an installation that was set up; those of the set-up take it back."""
    monkeypatch.setattr(SetupRequiredMiddleware, "has_users", True)


@pytest.fixture(scope="session")
def in_ci() -> bool:
    return os.environ.get("CI") == "true"
