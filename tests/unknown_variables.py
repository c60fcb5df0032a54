"""A template variable that nobody gave raises in tests; on the site it is nothing."""

from __future__ import annotations

from typing import Never


class UnknownVariable(str):
    """The setting `string_if_invalid`. Django formats it with the variable, which then raises.

    What a template may be given or not is read by `{% if %}`, `{% firstof %}` or with `|default`
    of a variable that exists.
    """

    __slots__ = ()

    def __mod__(self, variable: object) -> Never:
        raise AssertionError(f"a template reads {variable!s}, which it was not given")
