"""The functional core: plain functions and small states, driven by one loop that knows nothing of clustering."""
