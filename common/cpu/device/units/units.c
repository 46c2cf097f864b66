/* Calls of the scheduler, passed on to several units. */
#include "device/units/units.h"

void units_begin_block(struct worker *w)
{
    w->async_random = 0;
    mbarriers_begin_block(w);
}

void units_end_block(struct worker *w)
{
    cp_async_end_block(w);
    bulk_end_block(w);
}

void units_forget(struct worker *w)
{
    cp_async_forget(w);
    bulk_forget(w);
}
