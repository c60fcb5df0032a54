"""Operations: whether everything runs, what is at risk, and the stop of all charges."""

from __future__ import annotations
