"""Voice clones: slots, what samples become, and the clones among the narration voices."""
