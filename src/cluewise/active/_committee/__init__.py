"""Committee: rows on which many clusterings disagree, and what they agree on."""
