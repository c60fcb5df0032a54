"""Characters: made from a photo, previewed, trained, offered in the studio."""
