"""Text-to-video: what may be ordered, what it costs, the asset and its way."""
