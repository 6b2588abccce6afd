"""GroupQuestions: sort a few rows into piles, where most pairs of rows are at stake."""
