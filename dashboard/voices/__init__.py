"""Voices: those of the service, and those that a team has cloned."""
