"""Commands beside a running portal; sessions made older: nobody waits ten minutes in a test."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.browser.portal_process import OUTSIDE_VARIABLES, DemoPerson, LivePortal

AGE_S = 3600
COMMAND_TIMEOUT_S = 120
SCRIPT = """
from importlib import import_module
from django.conf import settings
from django.contrib.sessions.models import Session
from dashboard.models import User

user = User.objects.get(email={email!r})
for row in Session.objects.all():
    data = row.get_decoded()
    if data.get("_auth_user_id") == str(user.pk):
        for record in data["account_authentication_methods"]:
            record["at"] -= {age_s}
        row.session_data = import_module(settings.SESSION_ENGINE).SessionStore().encode(data)
        row.save(update_fields=["session_data"])
"""


def make_sign_ins_old(site: LivePortal, person: DemoPerson) -> None:
    """As if this person had signed in an hour ago."""
    script = SCRIPT.format(email=person.email, age_s=AGE_S)
    run_management_command(site, "shell", "--no-imports", "-c", script)


def run_management_command(site: LivePortal, *arguments: str) -> None:
    """As its operator would in a terminal. Raises `CalledProcessError` if it fails."""
    command = [sys.executable, "manage.py", *arguments]
    environ = management_environment(site)
    subprocess.run(command, env=environ, check=True, timeout=COMMAND_TIMEOUT_S)


def management_environment(site: LivePortal) -> dict[str, str]:
    """The environ of a command beside the portal, on its own data."""
    environ = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    return environ | {"REELROOM_VAR": str(site.var)}
