"""PairsAtStake: ask where most pairs of rows are likely to change sides."""
