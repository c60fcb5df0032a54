"""Many cases in one test, where they share no state: each costs what it asks, and nothing else."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from django.db import transaction

Test = Callable[..., None]


def each_case(
    names: str, cases: Iterable[Any], *, rolls_back: bool = False
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test: all cases are tried, and those that fail named.

    `names` are the arguments that a case gives, with commas between; the rest are fixtures. For
    cases that change nothing of one another: no row (unless what each does to them is rolled back),
    no fixture, and nothing in Redis or on a server.
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
                    with rolled_back() if rolls_back else nullcontext():
                        test(**fixtures, **given)
                except (Exception, pytest.fail.Exception) as failure:
                    failures.append(f"{given!r:.300}: {type(failure).__name__}: {failure}")
            assert not failures, "\n".join(failures)

        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in arguments]
        test_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return test_all

    return decorate


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
