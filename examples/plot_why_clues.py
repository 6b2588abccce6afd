"""
Do a few clues change the picture?
==================================

x
"""
print(1)
