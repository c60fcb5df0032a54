"""A made-up team with years of work behind it: to see the pages at their size, and to time them.

It has accounts, members, jobs, charges and ledgers whose sums agree, from a seeded random; its
tokens are removed ones, so that nothing is ever sent for it. Only with the sandbox.
"""

from __future__ import annotations
