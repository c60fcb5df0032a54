"""The site: one folder per area, what they share in `shared`, rows in `models`.

Areas import no other area.
"""

from __future__ import annotations

__version__ = "0.1.0"  # as in pyproject.toml, which is not in the image
