"""Makes types.parquet and types.jsonl, what pyarrow says is in it: python make.py"""

import datetime as dt
import decimal
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N = 7
utc = dt.timezone.utc
columns = {
    "text": pa.array([None if i == 3 else f"the [MASK] sat, {i} \u00e9" for i in range(N)]),
    "zeta": pa.array([i * 10**15 for i in range(N)], pa.int64()),
    "alpha": pa.array([None if i % 3 == 1 else -i for i in range(N)], pa.int8()),
    "u64": pa.array([2**64 - 1 - i for i in range(N)], pa.uint64()),
    "f32": pa.array([0.1 * i for i in range(N)], pa.float32()),
    "f64": pa.array([0.1 * i if i else float("nan") for i in range(N)]),
    "f16": pa.array([None if i == 2 else np.float16(0.1 * i - 1.05) for i in range(N)], pa.float16()),
    "halves": pa.array([{"of": [np.float16(x) for x in (6e-8, -0.5, math.inf, math.nan)[: i]]}
                        for i in range(N)], pa.struct([("of", pa.list_(pa.float16()))])),
    "fixed": pa.array([b"ab", b"\xff\x00"] * 3 + [None], pa.binary(2)),
    "flag": pa.array([i % 2 == 0 for i in range(N)]),
    "day": pa.array([dt.date(1969, 12, 28 + i) if i < 4 else dt.date(2024, 2, 29) for i in range(N)]),
    "when": pa.array([dt.datetime(2024, 1, 1, 12, 0, i, 500) for i in range(N)], pa.timestamp("us")),
    "zoned": pa.array([dt.datetime(1960, 1, 1, 12, 0, i, tzinfo=utc) for i in range(N)],
                      pa.timestamp("ns", "UTC")),
    "money": pa.array([decimal.Decimal(i - 3) / 100 for i in range(N)], pa.decimal128(20, 2)),
    "raw": pa.array([bytes([255, i]) for i in range(N)], pa.binary()),
    "word": pa.array(["red", "blue"] * 3 + ["red"]).dictionary_encode(),
    "list": pa.array([None if i == 2 else [None if j == 1 else j for j in range(i % 4)]
                      for i in range(N)], pa.list_(pa.int32())),
    "lists": pa.array([[[str(i)], [], None, ["x", "y"]][: i % 5] for i in range(N)],
                      pa.list_(pa.list_(pa.string()))),
    "point": pa.array([None if i == 5 else {"y": i, "x": None if i == 1 else {"deep": f"d{i}"}}
                       for i in range(N)]),
    "map": pa.array([[("a", i), ("b", None)][: i % 3] for i in range(N)],
                    pa.map_(pa.string(), pa.int64())),
}
table = pa.table(columns)
pq.write_table(table, "types.parquet", row_group_size=3, compression="zstd")


def plain(v):
    if isinstance(v, float):
        return "NaN" if v != v else "Infinity" if v == math.inf else v
    if isinstance(v, bytes):
        import base64
        return base64.b64encode(v).decode()
    if isinstance(v, decimal.Decimal):
        return str(v)
    if isinstance(v, dt.datetime) or hasattr(v, "to_pydatetime"):
        text = v.isoformat().replace("+00:00", "Z")
        return text.rstrip("0") if "." in text else text
    if isinstance(v, dt.date):
        return v.isoformat()
    if isinstance(v, tuple):
        return {"key": v[0], "value": v[1]}
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return v


with open("types.jsonl", "w") as out:
    for row in pq.read_table("types.parquet").to_pylist():
        row["f32"] = float(f"{row['f32']:.7g}")  # the digits that 32 bits have
        out.write(json.dumps({k: plain(v) for k, v in row.items()}, ensure_ascii=False) + "\n")
