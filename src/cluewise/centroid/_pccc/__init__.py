"""PCCC: labels, links, groups and sizes, hard and soft, in one fit."""
