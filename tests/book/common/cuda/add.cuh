/* add.cuh: what both steps share. */
// snippet: add
static __device__ float add(float a, float b)
{
    return a + b;
}
// end snippet: add
