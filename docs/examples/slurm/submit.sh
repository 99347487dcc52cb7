#!/bin/bash
# MODEL=llama RUNS=/shared/runs/llama BENCHMARKS="benchmarks/test_mmlu.py" ./submit.sh 16
set -euo pipefail
here=$(dirname "$0")

export MODEL RUNS BENCHMARKS=${BENCHMARKS:-benchmarks}
mkdir -p "${RUNS:?a folder that all nodes share}"
array=$(sbatch --parsable --chdir="$PWD" --array="1-${1:-16}" "$here/evaluate.sbatch")
# afterany: a shard with a sample that could not be measured ends with 1, and is merged too
sbatch --chdir="$PWD" --dependency="afterany:${array%%;*}" "$here/merge.sbatch"
