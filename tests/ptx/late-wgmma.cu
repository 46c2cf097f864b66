// A kernel that reads sums which it has not waited for: what it finds says when each product took
// effect. A letter a product: p is NaN; 2, 3 and 4 are what the tile held.
#include "record.h"
#include "wgmma_forms.h"

enum { PRODUCTS = 8 };

static __device__ uint64_t descriptor(const void *tile)
{
    return (uint64_t)((uint32_t)__cvta_generic_to_shared(tile) >> 4) | 8ull << 16 | 16ull << 32;
}

// b [16][8] of one value
static __device__ void fill(uint16_t *tile, uint16_t bits)
{
    __syncthreads();
    tile[threadIdx.x] = bits;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

static __device__ void tell(const float (&c)[PRODUCTS][4], float *out)
{
    for (int i = 0; i < PRODUCTS && threadIdx.x == 77; i++)
        out[i] = c[i][2];
}

// Each group is one product of ones and the tile. Found: after the issues, when the tile has
// changed and three are waited for, when it has changed again and all are.
__global__ void found(float *out)
{
    __shared__ alignas(128) uint16_t tile[128];
    const uint32_t ones[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
    float c[PRODUCTS][4] = {};
    fill(tile, 0x4000);
    wgmma_fence();
    for (int i = 0; i < PRODUCTS; i++) {
        wgmma_f16<1, 1, 0>(c[i], ones, descriptor(tile), 0);
        wgmma_commit();
    }
    tell(c, out);
    fill(tile, 0x4200);
    wgmma_wait<5>();
    tell(c, out + PRODUCTS);
    fill(tile, 0x4400);
    wgmma_wait<0>();
    tell(c, out + 2 * PRODUCTS);
}

// The registers of A change between the issue and the wait.
__global__ void registers_change(float *out)
{
    __shared__ alignas(128) uint16_t tile[128];
    uint32_t a[4] = {0x40004000, 0x40004000, 0x40004000, 0x40004000};
    float c[4];
    fill(tile, 0x3c00);
    wgmma_fence();
    wgmma_f16<1, 1, 0>(c, a, descriptor(tile), 0);
    wgmma_commit();
    for (int i = 0; i < 4; i++)
        a[i] = 0x42004200;
    wgmma_wait<0>();
    out[threadIdx.x] = c[0];
}

int main()
{
    float out[3 * PRODUCTS], changed[128];
    void *d = on_device(NULL, sizeof changed);
    found<<<1, 128>>>((float *)d);
    to_host(out, d, sizeof out);
    for (int i = 0; i < 3 * PRODUCTS; i++)
        printf("%c%s",
               out[i] != out[i]  ? 'p'
               : out[i] == 32.0f ? '2'
               : out[i] == 48.0f ? '3'
               : out[i] == 64.0f ? '4'
                                 : '?',
               i % PRODUCTS == PRODUCTS - 1 ? "\n" : "");
    registers_change<<<1, 128>>>((float *)d);
    to_host(changed, d, sizeof changed);
    printf("registers %s\n", changed[5] == 32.0f ? "before" : changed[5] == 48.0f ? "after" : "?");
    return 0;
}
