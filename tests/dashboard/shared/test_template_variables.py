"""In tests a template that reads what it was not given fails."""

from __future__ import annotations

import pytest
from django.template import engines


def test_a_variable_that_was_not_given_raises() -> None:
    from_string = engines["django"].from_string
    with pytest.raises(AssertionError, match=r"a template reads video\.tilte"):
        from_string("{{ video.tilte }}").render({"video": {"title": "Waves"}})
    optional = "{% if note %}1{% endif %}{% firstof note 'none' %}"
    assert from_string(optional).render({}) == "none"
