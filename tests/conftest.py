"""For every test: the people, real servers out of wheels, an empty Redis."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256

import hypothesis
import pytest
from django.conf import settings

from dashboard.shared.setup_required import SetupRequiredMiddleware
from tests import servers
from tests.external_state import empty_external_state
from tests.settings import ON_POSTGRES, TEST_DIR

pytest_plugins = ["tests.people"]
# How long an example takes tells of the machine.
SLOW_HEALTH_CHECKS = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=SLOW_HEALTH_CHECKS
)
hypothesis.settings.load_profile("untimed")
# Exit status when a check after a test failed, such as that no token leaked: it is not run again.
CHECK_AFTER_TEST_FAILED = 10
Chosen = Callable[[pytest.Item], bool]
STOP_CALLBACKS = pytest.StashKey[list[Callable[[], None]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--only-database", action="store_true", help="Leave out what never asks the database."
    )
    parser.addoption(
        "--without-database", action="store_true", help="Leave out what asks the database."
    )
    parser.addoption(
        "--draw", default="1:0", help="n:seed runs one in n tests, chosen by the seed."
    )


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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones first: at the end, one would leave the other processes with nothing to do."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if config.getoption("--only-database"):
        keep_items(config, items, asks_database)
    if config.getoption("--without-database"):
        keep_items(config, items, lambda item: not asks_database(item))
    share, seed = config.getoption("--draw").split(":")
    keep_items(config, items, lambda item: is_drawn(item, int(share), seed))


def keep_items(config: pytest.Config, items: list[pytest.Item], chosen: Chosen) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not chosen(item)])
    items[:] = [item for item in items if chosen(item)]


def is_drawn(item: pytest.Item, share: int, seed: str) -> bool:
    """One in `share` tests, with all its cases; in each process the same ones."""
    name = item.nodeid.partition("[")[0]
    return sha256(f"{seed} {name}".encode()).digest()[0] % share == 0


def pytest_collection_finish() -> None:
    """What thousands of tests have imported stays: no collection of garbage looks it through."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    errors = reporter.stats.get("error", []) if reporter else []
    if any(getattr(error, "when", "") == "teardown" for error in errors):
        session.exitstatus = CHECK_AFTER_TEST_FAILED


def asks_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


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
