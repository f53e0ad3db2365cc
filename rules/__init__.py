"""The rules, one a file. Each is found by being here; nothing lists them."""
