"""The command ``estate``: many repositories, each checked by itself, with one report of all."""
