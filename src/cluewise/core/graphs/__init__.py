"""Graphs of near rows: who is near, how much, and the eigenvectors of it all."""
