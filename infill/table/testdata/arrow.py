"""Writes arrow.parquet, columns with types that Arrow has and Parquet lacks, and stays.parquet, the file of an
example in docs/guide/batch.md. Needs pandas 3.1 and pyarrow 26."""
import datetime
import decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

frame = pd.DataFrame({
    "size": pd.Categorical(["mid", "low"], categories=["low", "mid", "high"], ordered=True),
    "took": pd.to_timedelta([1, None], unit="s"),
    "when": pd.to_datetime(["2024-01-01", "2024-06-01"]).tz_localize("Europe/Vienna"),
})
table = pa.Table.from_pandas(frame)
table = table.append_column("pair", pa.array([[1, 2], None], pa.list_(pa.int32(), 2)))
table = table.append_column("deep", pa.array(
    [{"d": datetime.timedelta(seconds=3), "c": ["x", "y"]}, None],
    pa.struct([("d", pa.duration("ms")), ("c", pa.list_(pa.dictionary(pa.int32(), pa.string())))])))
table = table.append_column("n", pa.array([1, 2], pa.int64()))
pq.write_table(table, "arrow.parquet")

stays = pd.DataFrame({
    "review": ["The room was [MASK].", "We [MASK] the breakfast."],
    "room": pd.Categorical(["double", "single"], categories=["single", "double", "suite"], ordered=True),
    "price": [decimal.Decimal("129.00"), decimal.Decimal("84.50")],
    "stayed": pd.to_timedelta([3, 1], unit="D"),
    "left": pd.to_datetime(["2026-05-01 10:00", "2026-06-01 09:30"]).tz_localize("Europe/Vienna"),
})
stays.to_parquet("stays.parquet", index=False)
