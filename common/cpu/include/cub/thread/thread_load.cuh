#pragma once
#include "cpu/cub/common.h"
