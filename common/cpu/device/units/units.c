/* Calls of the scheduler, passed on to all units. */
#include "device/units/units.h"

void units_begin_block(struct worker *w)
{
    w->async_random = 0;
    phases_block(w);
}

void units_end_block(struct worker *w)
{
    copies_end_block(w);
    flights_end_block(w);
}

void units_forget(struct worker *w)
{
    copies_forget(w);
    flights_forget(w);
}

int units_expire(struct worker *w)
{
    return phases_expire(w);
}

int units_describe(struct worker *w)
{
    return phases_describe(w);
}
