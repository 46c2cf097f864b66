/* Part of nvToolsExt.h: names of streams and events are told to nobody either. */
#include "nvToolsExt.h"
