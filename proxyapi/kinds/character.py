"""Characters: drawn, then trained. The spec does not document where a training starts."""

from __future__ import annotations

from proxyapi.kinds.declaration import KindSpec
from proxyapi.operations import JobKind

CHARACTER = KindSpec(
    JobKind.CHARACTER, "", frozenset({"ready"}), media_url_key="", shows_start=False
)
