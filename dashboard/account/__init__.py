"""Signing in: its limits, its record, the end of unused sessions, and mails about passwords."""
