"""Page data of videos, complete and immutable, with all texts; templates make no decisions.

Everything is the same for every member of the team, except `buttons.py`, which depends on the
reader.
"""

from __future__ import annotations
