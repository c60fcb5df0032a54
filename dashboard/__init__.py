"""The site: one folder per area, what they share in `shared`, rows in `models`.

Areas import no other area.
"""

from __future__ import annotations
