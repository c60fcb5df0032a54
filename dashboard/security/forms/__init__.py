"""Forms of the security page. Each asks for the password if it was not given recently."""

from __future__ import annotations
