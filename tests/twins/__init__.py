"""Twins: every kernel once more in obvious NumPy, of the same name and signature, for the tests to compare with."""
