"""The lesson's two ways out of the process, for comparison; see the book's first lesson."""

from ._ungil.udf_in_process import create_naive_function, create_pooled_function

__all__ = ["create_naive_function", "create_pooled_function"]
