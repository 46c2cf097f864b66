#pragma once
#include "cpu/cub/device.h"
