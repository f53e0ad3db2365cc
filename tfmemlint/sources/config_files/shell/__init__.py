"""Shell scripts as words, simple commands and compound commands."""
