/* Part of nvToolsExt.h: names of streams and events have no effect either. */
#include "nvToolsExt.h"
