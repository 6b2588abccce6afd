"""A language model as an oracle: prompts, replies, the line to the server, budgets and batch files."""
