"""COPKMeans: every link holds, or the error says why that is impossible."""
