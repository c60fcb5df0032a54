"""Characters: a photo, candidates drawn from it, and one of them trained."""
