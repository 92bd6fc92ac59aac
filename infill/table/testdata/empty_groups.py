"""Makes empty.parquet, whose only row group has no rows, and empty_groups.parquet, where such
groups stand between others: python empty_groups.py"""

import pyarrow as pa
import pyarrow.parquet as pq

schema = pa.schema([("text", pa.string()), ("n", pa.int32())])
empty = schema.empty_table()
pq.write_table(empty, "empty.parquet")
with pq.ParquetWriter("empty_groups.parquet", schema) as w:
    for texts in [], ["the [MASK] sat", "a [MASK] ran"], [], ["one [MASK] slept"], []:
        w.write_table(pa.table({"text": texts, "n": range(len(texts))}, schema))
