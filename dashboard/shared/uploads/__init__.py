"""Files that members upload: read by their content, cleaned before anything is kept or sent."""
