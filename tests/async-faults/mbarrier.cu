/* mbarriers: made before they are used, with as many arrivals and bytes as they are told of, and
 * waited for phase after phase. A wait in vain ends the kernel with a line. */
#include "bulk.cuh"
#include "ptx.cuh"

/* A tile at a time: one thread fetches it, and all wait. */
template <bool fault>
__global__ void made_unfenced(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0)
        init(&full, 1); // seen here: made_unfenced
    if (!fault)         // fault here: made_unfenced
        fence_init();
    __syncthreads();
    if (t == 0) {
        expect(&full, BYTES);
        load(tile, x, BYTES, &full); // seen here: made_unfenced
    }
    wait(&full, 0);
    y[t] = sum_of(tile);
}

RUN(made_unfenced, 1, THREADS, numbers(TILE), sums(in, 1));

template <bool fault>
__global__ void used_at_once(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        init(&full, 1); // seen here: used_at_once
        fence_init();
    }
    if (!fault) // fault here: used_at_once
        __syncthreads();
    if (t == 0) {
        expect(&full, BYTES);
        load(tile, x, BYTES, &full);
    }
    wait(&full, 0); // seen here: used_at_once
    y[t] = sum_of(tile);
}

RUN(used_at_once, 1, THREADS, numbers(TILE), sums(in, 1));

/* The last tile is shorter, and is announced as it is. */
template <bool fault>
__global__ void announced_too_many(const int *x, int *y, int n)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, 1);
    int sum = 0;
    for (int k = 0; k * TILE < n; k++) {
        const int left = n - k * TILE, bytes = 4 * (left < TILE ? left : TILE);
        if (t == 0) {
            expect(&full, fault ? BYTES : bytes); // fault here: announced_too_many
            load(tile, x + k * TILE, bytes, &full);
        }
        wait(&full, k & 1); // seen here: announced_too_many
        for (int i = t; i < bytes / 4; i += THREADS)
            sum += tile[i];
        __syncthreads();
    }
    y[t] = sum;
}

RUN(announced_too_many, 1, THREADS, numbers(2 * TILE + 64),
    sums_by(THREADS, in, [](int i) { return i % TILE % THREADS; }), 2 * TILE + 64);

/* Keys and values come for one phase, and both are to be announced. */
template <bool fault>
__global__ void announced_too_few(const int *keys, const int *values, int *y)
{
    __shared__ alignas(16) int tile[2][TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, 1);
    if (t == 0) {
        expect(&full, fault ? BYTES : 2 * BYTES); // fault here: announced_too_few
        load(tile[0], keys, BYTES, &full);
        load(tile[1], values, BYTES, &full); // seen here: announced_too_few
    }
    __syncthreads();
    wait(&full, 0); // seen here: announced_too_few
    y[t] = sum_of(tile[0]) + 2 * sum_of(tile[1]);
}

template <bool fault>
static bool run_announced_too_few()
{
    const auto in = numbers(2 * TILE);
    array<int> x(in), y(THREADS);
    announced_too_few<fault><<<1, THREADS>>>(x, x + TILE, y);
    return came_out<fault>(y.p, sums(in, 2));
}

/* Each warp announces its half of a tile and fetches it: that is two arrivals. */
template <bool fault>
__global__ void two_arrive_for_one(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, fault ? 1 : 2); // fault here: two_arrive_for_one
    if (t % 32 == 0) {
        expect(&full, BYTES / 2); // seen here: two_arrive_for_one
        load(tile + t / 32 * TILE / 2, x + t / 32 * TILE / 2, BYTES / 2, &full);
    }
    __syncthreads();
    wait(&full, 0);
    y[t] = sum_of(tile);
}

RUN(two_arrive_for_one, 1, THREADS, numbers(TILE), sums(in, 1));

/* Nothing tells the second warp that the first has arrived for the phase before: its own arrival
 * may come first, and count for that. */
template <bool fault>
__global__ void arrives_unasked(int *y)
{
    __shared__ int half[2];
    __shared__ uint64_t done;
    const int t = threadIdx.x;
    make(&done, 1);
    if (t == 0) {
        half[0] = 1;
        arrive(&done); // seen here: arrives_unasked
    }
    if (t == 32) {
        if (!fault) // fault here: arrives_unasked
            wait(&done, 0);
        half[1] = 2;
        arrive(&done); // seen here: arrives_unasked
    }
    __syncthreads();
    wait(&done, 1);
    y[t] = half[0] + half[1];
}

RUN_OUT(arrives_unasked, 1, THREADS, std::vector<int>(THREADS, 3));

/* So may a copy that the barrier is to tell of. */
template <bool fault>
__global__ void copies_unasked(const int *x, int *y)
{
    __shared__ int half[2];
    __shared__ uint64_t done;
    const int t = threadIdx.x;
    make(&done, 1);
    if (t == 0) {
        half[0] = 1;
        arrive(&done); // seen here: copies_unasked
    }
    if (t == 32) {
        if (!fault) // fault here: copies_unasked
            wait(&done, 0);
        copy_4(&half[1], x);
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" // seen here: copies_unasked
                     ::"r"(at(&done))
                     : "memory");
        arrive(&done);
        asm volatile("cp.async.wait_all;" ::: "memory");
    }
    __syncthreads();
    wait(&done, 1);
    y[t] = half[0] + half[1];
}

template <bool fault>
static bool run_copies_unasked()
{
    array<int> x(std::vector<int>(1, 2)), y(THREADS);
    copies_unasked<fault><<<1, THREADS>>>(x, y);
    return came_out<fault>(y.p, std::vector<int>(THREADS, 3));
}

/* Both warps fill a tile, and each announces its half. */
template <bool fault>
__global__ void one_arrival_is_missing(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, fault ? 3 : 2); // fault here: one_arrival_is_missing
    if (t % 32 == 0) {
        expect(&full, BYTES / 2);
        load(tile + t / 32 * TILE / 2, x + t / 32 * TILE / 2, BYTES / 2, &full);
    }
    wait(&full, 0); // seen here: one_arrival_is_missing
    y[t] = sum_of(tile);
}

RUN(one_arrival_is_missing, 1, THREADS, numbers(TILE), sums(in, 1));

/* The parity changes with each phase. */
template <bool fault>
__global__ void same_parity(const int *x, int *y, int tiles)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, 1);
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (t == 0) {
            expect(&full, BYTES);
            load(tile, x + TILE * k, BYTES, &full);
        }
        __syncthreads();
        wait(&full, fault ? 0 : k & 1); // fault here: same_parity
        sum += (k + 1) * sum_of(tile);  // seen here: same_parity
        __syncthreads();
    }
    y[t] = sum;
}

RUN(same_parity, 1, THREADS, numbers(3 * TILE), sums(in, 3), 3);

/* The first phase has parity 0. A wait for 1 is for the one in front of it, which counts as
 * complete: right for stages that are empty at first, wrong for tiles. */
template <bool fault>
__global__ void parity_of_fresh(const int *x, int *y)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, 1);
    if (t == 0) {
        expect(&full, BYTES);
        load(tile, x, BYTES, &full);
    }
    __syncthreads();
    wait(&full, fault ? 1 : 0); // fault here: parity_of_fresh
    y[t] = sum_of(tile);        // seen here: parity_of_fresh
}

RUN(parity_of_fresh, 1, THREADS, numbers(TILE), sums(in, 1));

/* To wait once more for what is there already harms nobody, if it is the same phase. */
template <bool fault>
__global__ void waits_once_more(const int *x, int *y, int tiles)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    make(&full, 1);
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (t == 0) {
            expect(&full, BYTES);
            load(tile, x + TILE * k, BYTES, &full);
        }
        wait(&full, k & 1);
        sum += (k + 1) * sum_of(tile);
        __syncthreads();
    }
    const int last = fault ? tiles : tiles - 1; // fault here: waits_once_more
    wait(&full, last & 1);                      // seen here: waits_once_more
    y[t] = sum;
}

RUN(waits_once_more, 1, THREADS, numbers(3 * TILE), sums(in, 3), 3);

/* A thread has to wait before the barrier is two phases on: then the parity is the same again. */
template <bool fault>
__global__ void two_phases_behind(int *y, int phases)
{
    __shared__ int step;
    __shared__ uint64_t done;
    const int t = threadIdx.x;
    if (t == 0) {
        step = 0;
        init(&done, 1);
        fence_init();
    }
    __syncthreads();
    if (t == 0)
        for (int k = 0; k < phases; k++)
            arrive(&done);
    __syncwarp();
    if (t >= 32)
        wait(&done, 0); // seen here: two_phases_behind
    y[t] = step;
}

template <bool fault>
static bool run_two_phases_behind()
{
    array<int> y(THREADS);
    const int phases = fault ? 3 : 1; // fault here: two_phases_behind
    two_phases_behind<fault><<<1, THREADS>>>(y, phases);
    return came_out<fault>(y.p, std::vector<int>(THREADS, 0));
}

/* A warp of its own fetches tile after tile, each when all have read the one before. The parity of
 * the phase before the first passes at once, which is right before the first tile alone. */
template <bool fault>
__global__ void refilled_unread(const int *x, int *y, int tiles)
{
    __shared__ alignas(16) int tile[TILE];
    __shared__ uint64_t full, empty;
    const int t = threadIdx.x;
    int sum = 0;
    if (t == 0) {
        init(&full, 1);
        init(&empty, THREADS);
        fence_init();
    }
    __syncthreads();
    if (t < THREADS) {
        for (int k = 0; k < tiles; k++) {
            wait(&full, k & 1);
            sum += (k + 1) * sum_of(tile);
            arrive(&empty);
        }
        y[t] = sum;
    } else if (t == THREADS) {
        for (int k = 0; k < tiles; k++) {
            wait(&empty, fault || k % 2 == 0); // fault here: refilled_unread
            expect(&full, BYTES);
            load(tile, x + TILE * k, BYTES, &full);
        }
    }
}

RUN(refilled_unread, 1, THREADS + 32, numbers(3 * TILE), sums(in, 3), 3);

/* The same with two tiles, of which the first is fetched before the loop, and each is fetched by a
 * thread that also waits for it. */
template <bool fault>
__global__ void refilled_while_read(const int *x, int *y, int tiles)
{
    __shared__ alignas(16) int tile[2][TILE];
    __shared__ uint64_t full[2], empty[2];
    const int t = threadIdx.x;
    int sum = 0;
    if (t == 0) {
        for (int i = 0; i < 2; i++) {
            init(&full[i], 1);
            init(&empty[i], THREADS);
        }
        fence_init();
        expect(&full[0], BYTES);
        load(tile[0], x, BYTES, &full[0]);
    }
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        const int next = k + 1;
        if (k > 0)
            arrive(&empty[(k - 1) % 2]);
        if (t == 0 && next < tiles) {
            const int parity = fault ? 1 : next / 2 % 2 ^ 1; // fault here: refilled_while_read
            wait(&empty[next % 2], parity);                  // seen here: refilled_while_read
            expect(&full[next % 2], BYTES);
            load(tile[next % 2], x + TILE * next, BYTES, &full[next % 2]);
        }
        wait(&full[k % 2], k / 2 % 2);
        sum += (k + 1) * sum_of(tile[k % 2]);
    }
    y[t] = sum;
}

RUN(refilled_while_read, 1, THREADS, numbers(5 * TILE), sums(in, 5), 5);

int main(int argc, char **argv)
{
    static const planted list[] = {
        SUBTLE(made_unfenced, "a copy gets a barrier that no fence has made known to it"),
        PLAIN(used_at_once, "a barrier is used by threads that do not know that it is made"),
        SUBTLE(announced_too_many, "the last tile is announced longer than it is"),
        SUBTLE(announced_too_few, "of two copies one is announced"),
        PLAIN(two_arrive_for_one, "a barrier waits for one thread, and two arrive"),
        SUBTLE(arrives_unasked, "an arrival that may come before the one for the phase before"),
        SUBTLE(copies_unasked, "copies that may come before the arrival for the phase before"),
        PLAIN(one_arrival_is_missing, "a barrier waits for three threads, and two arrive"),
        SUBTLE(same_parity, "every wait is for parity 0"),
        SUBTLE(parity_of_fresh, "the first wait is for parity 1"),
        SUBTLE(waits_once_more, "a wait for a phase that never comes"),
        SUBTLE(two_phases_behind, "a wait for a phase that is the last but two"),
        PLAIN(refilled_unread, "every wait before a refill is for parity 1"),
        SUBTLE(refilled_while_read, "the same by a thread that reads the tiles, too"),
    };
    return suite("mbarrier", list, argc, argv);
}
