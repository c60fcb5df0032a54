"""Web pages: which addresses may be read, what stands on them, and the pool that reads share."""
