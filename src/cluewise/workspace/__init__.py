"""Data, answers and reports: what the command line and the web page have in common."""
