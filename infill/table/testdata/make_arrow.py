"""Makes the files of Arrow, and more.jsonl, what pyarrow says is in them: python make_arrow.py

types.* has the table of make.py, more.arrows the types that Parquet has not."""

import datetime as dt
import decimal
import json

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

table = pq.read_table("types.parquet")
table = table.set_column(table.schema.get_field_index("word"), "word",
                         table["word"].dictionary_encode())
with pa.ipc.new_stream("types.arrows", table.schema) as w:
    w.write_table(table, max_chunksize=3)
with pa.ipc.new_file("types.arrow", table.schema) as w:
    w.write_table(table.unify_dictionaries(), max_chunksize=3)
for codec in ("lz4", "zstd"):
    pa.feather.write_feather(table, f"types_{codec}.feather", compression=codec, chunksize=4)

seconds = dt.timedelta(seconds=3)
more = pa.table({
    "text": pa.array(["a [MASK]", None, "a long text with a [MASK] in it"], pa.string_view()),
    "large": pa.array(["x", None, "\u00e9"], pa.large_string()),
    "bytes": pa.array([b"\xff", None, b"a long row of bytes, not a short one"], pa.binary_view()),
    "wide": pa.array([decimal.Decimal("-1.50"), None, decimal.Decimal("123456789012345678901.25")],
                     pa.decimal256(50, 2)),
    "clock": pa.array([dt.time(1, 2, 3), None, dt.time(23, 59, 59)], pa.time32("s")),
    "precise": pa.array([dt.time(1, 2, 3, 4), None, dt.time(0)], pa.time64("us")),
    "day": pa.array([dt.date(1969, 12, 31), None, dt.date(2024, 2, 29)], pa.date64()),
    "took": pa.array([seconds, None, -seconds], pa.duration("ms")),
    "none": pa.nulls(3),
    "pair": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int8(), 2)),
    "many": pa.array([["x"], [], None], pa.large_list(pa.string())),
    "view": pa.array([[1], None, [2, 3]], pa.list_view(pa.int16())),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", None])),
    "either": pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()),
                                        [pa.array([1, 2, None]), pa.array(["x", "y", "z"])]),
    "dense": pa.UnionArray.from_dense(pa.array([1, 0, 1], pa.int8()), pa.array([0, 0, 1], pa.int32()),
                                      [pa.array([7]), pa.array(["x", "y"])]),
    "deep": pa.array([{"k": "r"}, None, {"k": None}],
                     pa.struct([("k", pa.dictionary(pa.int8(), pa.string()))])),
})
with pa.ipc.new_stream("more.arrows", more.schema) as w:
    w.write_table(more)


def plain(v):
    if isinstance(v, bytes):
        import base64
        return base64.b64encode(v).decode()
    if isinstance(v, dt.timedelta):
        return round(v.total_seconds() * 1000)
    if isinstance(v, (dt.date, dt.time)):
        text = v.isoformat()
        return text.rstrip("0") if "." in text else text
    if isinstance(v, decimal.Decimal):
        return str(v)
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


with open("more.jsonl", "w") as out:
    for row in more.to_pylist():
        out.write(json.dumps({k: plain(v) for k, v in row.items()}, ensure_ascii=False) + "\n")
