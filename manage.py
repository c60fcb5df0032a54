#!/usr/bin/env python
"""Django's command line, with the settings of this site."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as refusal:
        sys.exit(f"{refusal}")


if __name__ == "__main__":
    main()
