"""Batches: many videos from one file, over the actions of the studio."""
