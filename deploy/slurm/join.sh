#!/usr/bin/env bash
#SBATCH --job-name=infill-join
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=4:00:00
# Joins the shards in a folder: join.sh FOLDER OUTPUT. It refuses shards that are missing, not
# finished or not of one run, and then writes nothing.
set -euo pipefail
"${INFILL:-infill}" batch --join "$1" -o "$2"
