"""Which modules a project has, what imports what, where its programs start. Nothing here interprets code."""
