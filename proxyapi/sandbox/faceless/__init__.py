"""Faceless videos: drafts, their settings, what they cost, renders and exports."""
