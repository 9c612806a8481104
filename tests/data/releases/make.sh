#!/bin/sh
# make.sh FILE [COMMAND]: trains two iterations with the release that is installed, and packs the
# trainer's folder into FILE. COMMAND trains with that release.
set -eu
file=$(realpath "$1")
train=${2:-rlaif train}
folder=/tmp/var-of-a-release
rm -rf "$folder"
mkdir -p "$folder"
# Small, and not the defaults: a run keeps its own values.
env TRAINER_DATA_DIR="$folder/trainer" EPISODES_STORE="file://$folder/episodes" \
    MODELS_STORE="file://$folder/models" NATS_URL=nats://127.0.0.1:1 \
    RAY_WORKERS=0 ENVS_PER_WORKER=1 BATCH_SIZE=64 TRAINER_MINIBATCH_SIZE=32 EPISODE_LENGTH=300 \
    TRAINER_HIDDEN=8 TRAINER_SHARE_LAYERS=true TRAINER_CAPTURES_PER_MINUTE=0 \
    TRAINER_MODE=continuous EPOCH_STEPS=128 TRAINER_CHECKPOINTS_KEPT=1 RUN_HOURS=0.0005 \
    $train
tar --create --xz --file "$file" --directory "$folder" --sort=name --owner=0 --group=0 \
    --exclude=training.log --exclude=screen.rgb --exclude=screens --exclude=rooms trainer
rm -rf "$folder"
