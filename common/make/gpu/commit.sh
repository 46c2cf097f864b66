#!/bin/sh
# commit.sh: prints the commit that rows are recorded at, with +dirty where the tree differs from it.
# KF_COMMIT in the environment is taken as it is, for a copy of the tree without git.
if [ -z "$KF_COMMIT" ]; then
    KF_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
    git diff --quiet HEAD 2>/dev/null || KF_COMMIT=$KF_COMMIT+dirty
fi
echo "$KF_COMMIT"
