"""Videos as pages show them: frozen, complete, and worded. Templates read them and decide nothing.

Everything here is the same for every member of the team, but `acts.py`: it alone asks who reads.
"""

from __future__ import annotations
