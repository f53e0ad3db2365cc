"""A server of the Language Server Protocol: findings as you type, quick fixes, and what becomes of a call."""
