"""The lesson's two ways out of the process, for comparison; see the book's first lesson."""

from . import _ungil

create_naive_function = _ungil.udf_in_process.create_naive_function
create_pooled_function = _ungil.udf_in_process.create_pooled_function

__all__ = ["create_naive_function", "create_pooled_function"]
