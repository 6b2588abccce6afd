"""Loops over rows that are torch tensors, on any device: the counterpart of `kernels`, and the only imports of torch.

Functions take tensors and small NumPy arrays, such as centers, and leave on the device what has an entry for each row.
Nothing is worked on row by row, and only sums come back to the processor. The package is imported for tensors only.
"""
