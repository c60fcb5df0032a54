"""Clips from a prompt: the composer, its exact price, and the clips of the team. `changes` is used
by the event stream; other areas link by URL name."""

from __future__ import annotations
