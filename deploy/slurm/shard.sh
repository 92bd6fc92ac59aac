#!/usr/bin/env bash
#SBATCH --job-name=infill
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@120
# One task of an array fills one shard: shard.sh SHARDS INPUT FOLDER [flags of infill batch].
#
# SHARDS is given, and not taken from SLURM_ARRAY_TASK_COUNT, so that some tasks of the array can be
# submitted again alone. Two minutes before the time is over srun's program gets SIGTERM, finishes
# the record in hand, and ends with 130. The task is then queued again, and goes on.
set -euo pipefail
shards=$1 input=$2 folder=$3
shift 3
output=$folder/part-$(printf %06d "$SLURM_ARRAY_TASK_ID").jsonl
code=0
# Since Slurm 22.05 srun does not take over the number of processors by itself.
srun --ntasks=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
	"${INFILL:-infill}" batch "$input" -o "$output" --shard "$SLURM_ARRAY_TASK_ID/$shards" \
	--threads "${SLURM_CPUS_PER_TASK:-1}" --resume --ok-if-lines-fail --progress none "$@" || code=$?
if [ "$code" = 130 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
