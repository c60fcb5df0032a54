"""`TEST_ONLY=changed` leaves out no test that a change can break."""

from __future__ import annotations

import pytest

from tests.__main__ import ROOT, strip_group
from tests.changes import ROUTE_MATRIX, find_reached_tests


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("dashboard/budgets/views.py", "tests/dashboard/budgets/"),
        ("templates/budgets/page.html", "tests/dashboard/budgets/"),
        ("proxyapi/ledger/matching.py", "tests/proxyapi/ledger/"),
        ("proxyapi/ledger/matching.py", "tests/proxyapi/charges/"),  # which imports it
        ("tests/dashboard/voices/conftest.py", "tests/dashboard/voices/"),
    ],
)
def test_a_change_reaches_the_tests_of_its_package(changed: str, reached: str) -> None:
    found = find_reached_tests(ROOT, [changed])
    assert [path for path in found if path.startswith(reached)]
    assert set(found) >= ROUTE_MATRIX


def test_a_change_of_one_area_does_not_reach_another() -> None:
    found = find_reached_tests(ROOT, ["dashboard/budgets/views.py"])
    assert not [path for path in found if "voices" in path]


def test_a_change_of_the_settings_reaches_everything() -> None:
    assert find_reached_tests(ROOT, ["dashboard/settings.py"]) == ["tests"]


@pytest.mark.parametrize(
    ("reported", "name"),
    [
        ("tests/test_a.py::test_b@/folder/tests/test_a.py", "tests/test_a.py::test_b"),
        ("tests/test_a.py::test_b[mira@example]@group", "tests/test_a.py::test_b[mira@example]"),
        ("tests/test_a.py::test_b[mira@example]", "tests/test_a.py::test_b[mira@example]"),
    ],
)
def test_what_failed_is_run_again_by_its_own_name(reported: str, name: str) -> None:
    assert strip_group(reported) == name
