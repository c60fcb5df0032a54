"""Names of media files: nobody can guess them without the seed, and no two films share one."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from proxyapi.sandbox.world import World


def new_file_name(world: World, content: bytes | dict[str, Any], suffix: str) -> str:
    """A name for a file of this content, or that is to be made as described.

    A world that was reset or put back comes by the same chance again, while a film of the
    world before may still be made or lie there. So the content is part of the name.
    """
    chance = world.random_source("file").randbytes(16)
    if isinstance(content, dict):
        content = json.dumps(content, sort_keys=True).encode()
    return f"{sha256(chance + content).hexdigest()[:32]}.{suffix}"
