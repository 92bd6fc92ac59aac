"""Solves an instance of facility location with HiGHS, for highs.json.

    bin/lab instance 15 30 0 0 | python highs.py exact 60
    bin/lab instance 15 30 0 0 | python highs.py 8 60

It needs highspy 1.15 and numpy. The arguments are what to minimise, the exact mean cost or the mean
over a number of drawn demands, and the seconds that it may take. It prints one line of JSON.

The exact problem is a mixed-integer linear one: the mean demand at a site is a whole number, and the
mean overflow, which is convex in it, is the largest of its chords between whole numbers. That holds for
Poisson demands. For demands in lots, a fourth argument of instance, there are drawn demands only.
"""
import json
import math
import sys
import time

import highspy
import numpy as np

what, limit = sys.argv[1], float(sys.argv[2])
p = json.load(sys.stdin)
sites, customers = range(len(p["open"])), range(len(p["mean"]))


def overflow(mean, k):
    """E max(0, D - k), D of a Poisson law."""
    total, log = 0.0, -mean
    for n in range(k):
        total += (k - n) * math.exp(log)
        log += math.log(mean) - math.log(n + 1) if mean else -math.inf
    return max(0.0, mean - k + total)


h = highspy.Highs()
h.setOptionValue("output_flag", False)
h.setOptionValue("threads", 1)
h.setOptionValue("time_limit", limit)
y = [h.addBinary(obj=p["open"][i]) for i in sites]
x = [[h.addBinary(obj=p["ship"][i][j] * p["mean"][j]) for j in customers] for i in sites]
if what != "exact":
    rng, shape, lots = np.random.default_rng(int(what)), (int(what), len(p["mean"])), p.get("lots", 0)
    demands = rng.binomial(1, 1 / lots, shape) * lots * p["mean"] if lots else rng.poisson(p["mean"], shape)
    mean = demands.mean(axis=0)
    for i in sites:
        for j in customers:
            h.changeColCost(x[i][j].index, p["ship"][i][j] * mean[j])
for j in customers:
    h.addConstr(h.qsum(x[i][j] for i in sites) == 1)
for i in sites:
    k, g = p["capacity"][i], p["outsource"][i]
    # A closed site outsources all its demand. Without this the relaxation is weak.
    closed = [h.addVariable() for j in customers]
    for j in customers:
        h.addConstr(closed[j] >= x[i][j] - y[i])
    if what == "exact":
        load = h.qsum(p["mean"][j] * x[i][j] for j in customers)
        s = h.addVariable(obj=g)
        h.addConstr(s >= load - k * y[i])
        h.addConstr(s >= h.qsum(p["mean"][j] * closed[j] for j in customers))
        for n in range(sum(p["mean"])):
            a, b = overflow(n, k), overflow(n + 1, k)
            if b > 1e-9 and a - (n - k) > 1e-9:
                h.addConstr(s >= a + (b - a) * (load - n))
    else:
        for d in demands:
            s = h.addVariable(obj=g / len(demands))
            h.addConstr(s >= h.qsum(int(d[j]) * x[i][j] for j in customers) - k * y[i])
            h.addConstr(s >= h.qsum(int(d[j]) * closed[j] for j in customers))
begin = time.time()
h.run()
info, col = h.getInfo(), h.getSolution().col_value
plan = [round(col[v.index]) for v in y]
plan += [max(sites, key=lambda i: col[x[i][j].index]) for j in customers]
print(json.dumps({
    "sites": len(y), "customers": len(p["mean"]), "instance": p["instance"],
    "lots": p.get("lots", 0), "what": what,
    "seconds": round(time.time() - begin), "proved": h.getModelStatus() == highspy.HighsModelStatus.kOptimal,
    "objective": info.objective_function_value, "bound": info.mip_dual_bound, "plan": plan,
}))
