"""A small multi-threaded columnar engine whose functions are Python's.

    import pyarrow, ungil
    from ungil import INT64

    @ungil.func([INT64, INT64], INT64)
    def add(a, b):
        return a + b

    engine = ungil.Engine(threads=2)
    engine.register("t", pyarrow.table({"a": [1, 2], "b": [10, 20]}))
    engine.sql("SELECT sum(add(a, b)) FROM t").scalar()
"""

from ._ungil import (
    BOOL,
    BYTES,
    DATE,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Engine,
    EngineError,
    FunctionError,
    QueryResult,
    SqlError,
    Type,
    batch_func,
    create_batch_function,
    create_function,
    drop_function,
    func,
)

__all__ = [name for name in dir() if not name.startswith("_")]
