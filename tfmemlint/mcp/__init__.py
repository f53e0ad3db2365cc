"""A server of the Model Context Protocol: check, fix, plan and corrections for programs that write code."""
