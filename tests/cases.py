"""Many cases in one test, where they share no state: each costs what it asks, and nothing else."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def each_case(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test: all cases are tried, and those that fail named.

    `names` are the arguments that a case gives, with commas between; the rest are fixtures. For
    cases that change no row, no fixture and no server.
    """
    arguments, kept = names.replace(",", " ").split(), list(cases)
    assert kept, f"{names}: no case"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def test_all(**fixtures: Any) -> None:
            failures = []
            for case in kept:
                values = case if len(arguments) > 1 else (case,)
                given = dict(zip(arguments, values, strict=True))
                try:
                    test(**fixtures, **given)
                except (Exception, pytest.fail.Exception) as failure:
                    failures.append(f"{given!r:.300}: {type(failure).__name__}: {failure}")
            assert not failures, "\n".join(failures)

        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in arguments]
        test_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return test_all

    return decorate
