#!/usr/bin/env bash
# Puts the numbers of a report of infill compare, beside those of DLP's Table 3
# (BERT-base), between the marks of a document.
# Usage: scripts/compare-table.sh REPORT.md DOCUMENT.md
set -euo pipefail
report=${1:?report} doc=${2:?document}
table=$(awk -F' *[|] *' '
BEGIN {
	split("gibbs Gibbs gwg GWG dula DULA dmala DMALA dlmc DLMC", n, " ")
	for (i = 1; i < 10; i += 2) name[n[i]] = n[i + 1]
	# self-BLEU, unique vs self n=2, corpus BLEU
	split("86.84 10.98 23.82", t, " "); for (i in t) dlp["gibbs", i] = t[i]
	split("81.97 15.12 22.84", t, " "); for (i in t) dlp["gwg", i] = t[i]
	split("72.37 23.33 21.82", t, " "); for (i in t) dlp["dula", i] = t[i]
	split("72.59 23.26 21.85", t, " "); for (i in t) dlp["dmala", i] = t[i]
	for (i = 1; i <= 3; i++) dlp["dlmc", i] = "–"
	print "| | self-BLEU, here | DLP | unique vs self n=2, here | DLP | corpus BLEU, here | DLP | nats per blank | evaluations | steps |"
	print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
}
$2 == "sampler" { delete col; for (i = 3; i < NF; i++) { h = $i; gsub(/\\/, "", h); col[h] = i } next }
!($2 in name) { next }
"self-BLEU" in col {
	self[$2] = $col["self-BLEU"]; bleu[$2] = $col["corpus BLEU"]
	for (h in col) if (h ~ /^unique vs self, n=2/) uniq[$2] = $col[h]
}
"evaluations" in col {
	for (h in col) if (h ~ /^score per blank/) score = $col[h]
	gsub(/ ±/, " ± ", self[$2]); gsub(/ ±/, " ± ", bleu[$2]); sub(/^-/, "−", score)
	printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name[$2], self[$2], dlp[$2, 1], uniq[$2], dlp[$2, 2], bleu[$2], dlp[$2, 3], score, $col["evaluations"], $col["steps"]
}' "$report")
grep -q '<!-- table' "$doc" && grep -q '<!-- end of table' "$doc"
awk -v table="$table" '
/<!-- end of table/ { skip = 0 }
!skip { print }
/<!-- table/ { print ""; print table; print ""; skip = 1 }' "$doc" >"$doc.tmp"
mv "$doc.tmp" "$doc"
