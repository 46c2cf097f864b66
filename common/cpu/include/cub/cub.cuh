#pragma once
#include "cpu/cub/block.h"
#include "cpu/cub/device.h"
