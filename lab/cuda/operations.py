"""Sums up a profile of the runtime by operation: which kernels a call takes its time for."""

import collections
import json
import sys

times, counts = collections.Counter(), collections.Counter()
with open(sys.argv[1]) as f:
    for event in json.load(f):
        name = event.get("args", {}).get("op_name")
        if event.get("cat") == "Node" and name and event["name"].endswith("_kernel_time"):
            key = name + " " + event["args"].get("provider", "").removesuffix("ExecutionProvider")
            times[key] += event["dur"]
            counts[key] += 1
total = sum(times.values()) or 1
for key, t in times.most_common(25):
    print(f"{key:45} {100 * t / total:5.1f} %  {counts[key]:6} calls {t / counts[key]:8.1f} us")
