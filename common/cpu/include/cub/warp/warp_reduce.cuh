#pragma once
#include "cpu/cub/warp.h"
