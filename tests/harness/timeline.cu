// timeline.cu: what the recorder of common/harness/timeline.cuh writes, and that none writes
// nothing.
#include "harness/timeline.cuh"
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

enum { ROLES = 3, MOST = 4, CELLS = 4, GROUP = 32, WAIT = 0, WORK = 1 };

// Group g, a role, does g + 2 tiles of two events; the third has no room for all of them.
template <class record>
__global__ void steps(int *out, record line)
{
    const int group = threadIdx.x / GROUP;
    line.begin(group, threadIdx.x % GROUP == 0 && blockIdx.x == 1);
    for (int tile = 0; tile < group + 1; tile++) {
        const uint32_t from = line.now();
        __syncwarp();
        line.add(WAIT, tile, from);
        const uint32_t again = line.now();
        out[threadIdx.x] += 1;
        line.add(WORK, tile, again);
    }
}

static int rows[ROLES][MOST][CELLS], tests;

static void ok(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, what);
}

int main(void)
{
    int *out, *on_device;
    cudaMalloc((void **)&out, ROLES * GROUP * sizeof *out);
    cudaMalloc((void **)&on_device, sizeof rows);
    cudaMemset(out, 0, ROLES * GROUP * sizeof *out);
    cudaMemset(on_device, 0xff, sizeof rows);
    steps<<<2, ROLES * GROUP>>>(out, no_recorder());
    cudaMemcpy(rows, on_device, sizeof rows, cudaMemcpyDeviceToHost);
    bool untouched = true;
    for (int i = 0; i < ROLES * MOST * CELLS; i++)
        untouched = untouched && rows[0][0][i] == -1;
    ok(untouched, "no_recorder writes nothing");
    recorder line = {on_device, MOST, 0, 0};
    steps<<<2, ROLES * GROUP>>>(out, line);
    cudaMemcpy(rows, on_device, sizeof rows, cudaMemcpyDeviceToHost);
    bool right = true, apart = true, forward = true;
    for (int role = 0; role < ROLES; role++) {
        int written = role < 2 ? 2 * role + 2 : MOST;
        for (int i = 0; i < MOST; i++) {
            const int *row = rows[role][i];
            if (i >= written) {
                right = right && row[0] == -1 && row[3] == -1;
                continue;
            }
            right = right && row[0] == i % 2 && row[1] == i / 2;
            forward = forward && row[3] > row[2];
            apart = apart && (i == 0 || row[2] > rows[role][i - 1][3]);
        }
    }
    ok(right, "event and tile, role by role; what finds no room is left out");
    ok(forward, "an event ends after it began");
    ok(apart, "and the next begins after that");
    printf("1..%d\n", tests);
    return 0;
}
