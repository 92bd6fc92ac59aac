"""Writes categories.parquet: two row groups whose categories differ, and some are of no row. Needs pyarrow 26."""
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def categories(indices, values, ordered=False):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), values, ordered=ordered)


def part(size, word, words, values, **of):
    inner = pa.ListArray.from_arrays(pa.array([0] + [i + 1 for i in range(len(words))], pa.int32()), categories(words, of["letters"]))
    return pa.table({"size": categories(size, ["low", "mid", "high"], True), "word": categories(word, values),
                     "deep": pa.StructArray.from_arrays([inner, pa.array(["s"] * len(size)),
                                                  pa.array([np.float16(1.5)] * len(size))], ["c", "s", "h"])})


first = part([1, 0, None], [2, 0, 2], [1, 1, 0], ["b", "unused", "a"], letters=["y", "x"])
second = part([1, 1], [1, 0], [0, 0], ["a", "c"], letters=["z", "x"])
with pq.ParquetWriter("categories.parquet", first.schema, compression="none") as out:
    out.write_table(first)
    out.write_table(second)
