"""Every table and figure of the papers, beside ours: declared in `tables`, run by `runner`, told by `report`."""
