"""The event stream of open pages. Areas use `change_rendering.register_change_fragments`; `urls`
uses `views`."""

from __future__ import annotations
