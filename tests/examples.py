"""How much a random test draws: a few examples in `make test`, all of them in `make drill`."""

from __future__ import annotations

import os
from typing import TypeVar

from hypothesis import Phase

Amount = TypeVar("Amount")

# Where an example takes a database, finding a smaller one that fails takes minutes.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


def examples(few: Amount, full: Amount) -> Amount:
    """`REELROOM_EXAMPLES`, which the drill sets, asks for all of them."""
    return full if "REELROOM_EXAMPLES" in os.environ else few
