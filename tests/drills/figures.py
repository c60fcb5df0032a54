"""A line for each figure of a drill, with what was wanted and whether it holds."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence

HOLDS, FALLS_SHORT = "ok", "FALLS SHORT"
MOST = 10


class Figures:
    """Prints figures as they are reported; `close` fails if one of them falls short."""

    def __init__(self, drill: str) -> None:
        given = os.environ.get("DRILL_SEED")
        self.seed = int(given) if given else secrets.randbits(32)
        self._drill = drill
        self._short: list[str] = []
        print(f"\n{drill}: seed {self.seed} (DRILL_SEED={self.seed} repeats it)", flush=True)

    def report(self, figure: str, wanted: str, *, holds: bool, found: Sequence[str] = ()) -> None:
        """`found`: what is wrong, one by one; the first of them are printed with the failure."""
        line = f"{self._drill} (seed {self.seed}): {figure}; wanted: {wanted}"
        print(f"{line}: {HOLDS if holds else FALLS_SHORT}", flush=True)
        if not holds:
            self._short += [line, *(f"  {one}" for one in found[:MOST])]

    def close(self) -> None:
        assert not self._short, "\n".join(self._short)
