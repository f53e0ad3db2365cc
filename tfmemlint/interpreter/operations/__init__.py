"""What handlers are built from: helpers that work on the context. None of them registers anything."""
