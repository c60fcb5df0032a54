"""Voices: the service's and the team's clones, making a clone, consent records."""
