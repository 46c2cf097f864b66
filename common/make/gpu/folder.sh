#!/bin/sh
# folder.sh ROWS: makes the folder build/data/DEVICE, of the device that the file ROWS names, and prints it.
device=$(sed -n 's/^# device: //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
mkdir -p "build/data/$device"
echo "build/data/$device"
