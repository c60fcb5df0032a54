"""A generated team with years of data, to view pages at full size and to time them.

It has accounts, members, jobs, charges and ledgers with consistent sums, from a seeded random
generator. Its tokens are removed ones, so that nothing is ever sent for it. Only with the sandbox.
"""

from __future__ import annotations
