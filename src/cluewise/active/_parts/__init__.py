"""What strategies are made of: distances to what was asked, groups, odds, utilities."""
