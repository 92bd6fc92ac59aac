package main

const ising50Head = `U = Σ b_i s_i + Σ_edges s_i s_j, s = ±1, open boundary, b from U(−1.5, 1.5) plus .5 in a centred disc of half the area and minus .5
outside, its sign changed: the Ising model of the DISCS benchmark at “high temperature” as its code computes it, with λ = .5 counted at
both ends of an edge. The published values are the results of seed 0 of that code (they are stored beside it), so that the
field and the reference state x0 are known numbers; they are made again here (bench/samplers/verify/threefry.go). The published runs:
100 chains, 50000 steps of burn-in, 50000 kept, f(x) = Σ|x_i − x0_i| over the lattice, the ESS of TensorFlow Probability
(autocorrelations summed up to the first negative one) averaged over chains, GWG with an adapted number of draws, adaptation to an
acceptance of .574 with one scale for all chains that never stops. Here: 3 chains, 5000 steps of burn-in (50000 for RWM),
a scale for each chain that stops with the burn-in, and everything else the same. The columns from “Geyer's ESS” on change one thing each:
the estimator; the first 15000 of the kept steps, scaled to 50000; the mean over 3 other x0; f over 3 single rows of the lattice.

`

const ising50Mean = `
The deviations are in standard errors of %.0f %%, which is what the chains of all samplers say of a mean of three; the published means
have a sixth of that, from 100 chains. Without RWM, on geometric average: here/published %.2f; each thing changed alone, against “here”: Geyer's estimator ×%.2f, 15000 steps
×%.2f, other x0 ×%.2f, single rows ×%.2f.
`

const ising50DISCSHead = `
DLMC and DLMCf once more with more chains, by other code (bench/samplers/verify/discs.go) and with the adaptation of the published one: h is
common to all chains, begins at 1 and changes at every step, the kept ones too. %d chains, %d steps of burn-in, 50000 kept. A chain may
come to a state that it does not leave, when the h that suits the others makes it propose far too much there; its f is constant, its ESS not a number,
and the published code counts that as 1.

`

const ising50Note = `
An earlier version of this page had values 1.2 to 1.8 times the published ones. It doubled the field together with the edges, took
15000 steps times 50000/15000, Geyer's estimator, other x0 and another field. A short run does not see the slowest modes, the walls
between the domains of the disc and of the rest, and the two estimators differ in how much noise they take in from that slow tail. The
scale of the energy is the one that decides about the order of the samplers: with edges of half the strength (every edge once) the
lattice is hardly ordered and ESS is two to five times as large. That the function is the distance over the whole lattice shows too:
other versions of the code take it over single rows, which gives more than twice the published values.

In the first table seven rows lie within 1.3 standard errors of the published values; DLMC √ and DLMCf √ are 55 and 62 % above. The second
table says what that is. Most of it is three chains: with 16, DLMC √ comes to 578 and not 780, DLMCf √ to 267 and not 374. Now √ is below ratio, and
DLMCf √ has .46 of the ESS of DLMC √, both as published (.46). What is left is 13 to 25 % (each ± 5 %; 100 chains of DLMC ratio, tried once, have
626 ± 10, 15 %) in all four rows alike, with √ and with ratio, DLMC and DLMCf, and so nothing of √. Its reason is in none of what the second table
shares with the published runs: one scale that never stops, its first value, chains that do not move counted as 1. Nor is it the model, the field or x0,
whose code is public as it was within a day of the runs (4 May 2023). The code of DLMC of that day is not: of its 38 versions
only the first and the last could be read. The last takes min(hQ, ν) for two categories, which makes DLMCf √ nearly as good as DLMC √ (third row) and
twice the published value: unless half of those chains did not move, it is not what ran then. By what else the sampler of the
published values differed, some 15 % in ESS, cannot be seen from outside.
`
