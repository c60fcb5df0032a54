"""The first run of an installation: its first owner, the first token, invitations."""

from __future__ import annotations
