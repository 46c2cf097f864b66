#pragma once
#include "cpu/cub/block.h"
