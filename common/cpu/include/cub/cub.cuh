#pragma once
#include "cpu/cub/block.h"
#include "cpu/cub/device.h"
/* The toolkit's CUB includes these, and programs rely on that. */
#if __has_include(<thrust/iterator/counting_iterator.h>)
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#endif
