"""Series: batches that start again and again, at fixed weekdays, from a list of topics."""
