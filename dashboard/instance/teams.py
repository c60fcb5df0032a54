"""Create a team."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from dashboard.alerts import default_rules
from dashboard.models import Team
from dashboard.shared.text_validation import validate_line
from proxyapi.models import Tenant
from proxyapi.refusals import Refusal

MAX_TEAM_NAME_CHARS = Team._meta.get_field("name").max_length or 0
NAME_TAKEN = f"The team needs a unique name of at most {MAX_TEAM_NAME_CHARS} characters."


def create_team(name: str, time_zone: str) -> Team:
    """Create a team without members, with the default alert rules. Raises `Refusal`."""
    name = name.strip()
    if not name or len(name) > MAX_TEAM_NAME_CHARS or Team.objects.filter(name=name).exists():
        raise Refusal(NAME_TAKEN, field="team")
    try:
        validate_line(name)
    except ValidationError as error:
        raise Refusal(error.messages[0], field="team") from None
    team = Team.objects.create(name=name, tenant=Tenant.objects.create(time_zone=time_zone))
    default_rules.create_default_rules(team)
    return team
