#!/bin/sh
# folder.sh ROWS: makes and prints build/data/DEVICE, DEVICE being the one that the file ROWS names.
device=$(sed -n 's/^# device: //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
mkdir -p "build/data/$device"
echo "build/data/$device"
