"""For every row of a table of the spec a scenario: what is done, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Scenario = Callable[..., Any]


class ScenarioTable(dict[str, Scenario]):
    """Scenarios by the row that they show."""

    def row(self, *rows: str) -> Callable[[Scenario], Scenario]:
        def keep(scenario: Scenario) -> Scenario:
            for row in rows:
                assert row not in self, f"two scenarios of {row}"
                self[row] = scenario
            return scenario

        return keep

    def covers(self, rows: Iterable[str]) -> bool:
        """Whether each row has its scenario and each scenario its row."""
        return set(self) == set(rows)
