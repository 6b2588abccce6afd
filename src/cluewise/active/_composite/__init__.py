"""CompositeQuestions: several utilities of a question in one score."""
