"""Counts lines, and the UTF-8 bytes of strings."""

from ._native import Counter, strings, utf8_lengths

__all__ = ["Counter", "strings", "utf8_lengths"]
