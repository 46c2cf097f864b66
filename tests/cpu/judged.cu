/* What check says of things that look like faults, and are none or milder ones; and of a few that
 * look like those. Argument: which. */
#include <cstdio>
#include <cstring>

/* A list that a kernel builds of its own memory, and another takes apart. */
struct node {
    int value;
    node *next;
    __device__ node(int value, node *next) : value(value), next(next)
    {
    }
    __device__ virtual int worth() const
    {
        return value;
    }
    __device__ virtual ~node()
    {
    }
};
__device__ node *head;

__global__ void build(int n)
{
    for (int i = 0; i < n; i++)
        head = new node(i, head);
}
__global__ void take_apart(int *out)
{
    int total = 0;
    while (head) {
        node *gone = head;
        total += gone->worth();
        head = gone->next;
        delete gone;
    }
    *out = total;
}
__global__ void scratch(int *out, int past, int twice, int unwritten)
{
    int *mine = (int *)malloc(8 * sizeof(int)), *more = new int[4];
    for (int i = unwritten; i < 8; i++)
        mine[i] = more[i % 4] = i;
    out[threadIdx.x] = mine[threadIdx.x % 8 + past] + more[0] * 0;
    delete[] more;
    free(mine);
    if (twice)
        free(mine);
}

/* The programming guide's sum of doubles, and two that only look like it. */
__device__ double add_double(double *address, double v)
{
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void sum_doubles(double *total, int in_shared)
{
    __shared__ double part;
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    add_double(in_shared ? &part : total, 1);
    __syncthreads();
    if (in_shared && threadIdx.x == 0)
        add_double(total, part);
}
__global__ void looks_first(int *total, int blind)
{
    const int old = *total;
    if (blind && threadIdx.x > 0)
        atomicCAS(total, -1, old);
    else
        atomicAdd(total, old & 0);
}

__global__ void raise(int *flag, int v, int different)
{
    flag[0] = v + (different ? (int)threadIdx.x / 8 : 0);
}
__global__ void raise_both(int *flag)
{
    flag[threadIdx.x / 32] = threadIdx.x < 32 ? 1 : threadIdx.x;
}

__global__ void reads(const float *x, float *y, int offset)
{
    y[threadIdx.x] = x[(int)threadIdx.x + offset];
}

/* Threads without work leave, and the others meet. */
__global__ void leave(int *out, int n, int how)
{
    __shared__ int cell[64];
    const int i = threadIdx.x;
    if (how == 6 ? i < 64 - n : i >= n)
        return;
    cell[i] = i;
    if (how == 0 || how == 6)
        __syncthreads();
    else if (how == 1)
        __syncwarp();
    else if (how == 2)
        cell[i] = __popc(__ballot_sync(0xffffffff, 1));
    else if (how == 3)
        cell[i] = __shfl_sync(0xffffffff, i, 0);
    else if (how == 5 && i < 32)
        asm volatile("bar.sync 1, 32;");
    else if (how == 4)
        cell[i] += __shfl_down_sync(0xffffffff, i, 4);
    else if (how == 7 && __shfl_down_sync(0xffffffff, i, 4) == i)
        return;
    if (how == 7 && i % 32 >= 4)
        return;
    out[i] = cell[how == 0 ? n - 1 - i : how == 1 ? i ^ 1 : i];
}

/* Sums of 16 lanes; those above may have ended. */
__global__ void half_sum(int *out, int how)
{
    int v = threadIdx.x % 32;
    if (v >= 16)
        return;
    for (int d = 8; d > 0; d /= 2)
        v += __shfl_down_sync(how % 3 == 0 ? 0xffff : 0xffffffff, v, d);
    v = how == 3 && threadIdx.x % 32 ? 1 : __shfl_sync(how == 3 ? 1 : 0xffff, v, how == 2);
    if (how || threadIdx.x == 0)
        out[threadIdx.x] = v;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int *out, got[64] = {0};
    double *total, sum = 0;
    float *a, *b, *none;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    cudaMalloc(&out, sizeof got);
    cudaMalloc(&total, sizeof *total);
    cudaMalloc(&a, 1024 * sizeof *a);
    cudaMalloc(&b, 1024 * sizeof *b);
    cudaMemset(out, 0, sizeof got);
    cudaMemset(total, 0, sizeof *total);
    cudaMemset(a, 0, 1024 * sizeof *a);
    if (strcmp(what, "list") == 0) {
        build<<<1, 1>>>(10);
        take_apart<<<1, 1>>>(out);
    } else if (strcmp(what, "lost") == 0) {
        build<<<1, 1>>>(1);
    } else if (strcmp(what, "scratch") == 0) {
        scratch<<<1, 32>>>(out, 0, 0, 0);
    } else if (strcmp(what, "past") == 0) {
        scratch<<<1, 8>>>(out, 1, 0, 0);
    } else if (strcmp(what, "twice") == 0) {
        scratch<<<1, 1>>>(out, 0, 1, 0);
    } else if (strcmp(what, "unwritten") == 0) {
        scratch<<<1, 1>>>(out, 0, 0, 1);
    } else if (strcmp(what, "aborts") == 0) {
        scratch<<<1, 1>>>(out, 0, 0, 1);
        cudaDeviceSynchronize();
        abort();
    } else if (strncmp(what, "doubles", 7) == 0) {
        sum_doubles<<<4, 64>>>(total, what[7] == '-');
    } else if (strcmp(what, "looks") == 0) {
        looks_first<<<2, 32>>>(out, 0);
    } else if (strcmp(what, "blind") == 0) {
        looks_first<<<2, 32>>>(out, 1);
    } else if (strcmp(what, "same") == 0) {
        raise<<<2, 64>>>(out, 7, 0);
    } else if (strcmp(what, "different") == 0) {
        raise<<<1, 64>>>(out, 7, 1);
    } else if (strcmp(what, "both") == 0) {
        raise_both<<<1, 64>>>(out);
    } else if (strcmp(what, "before") == 0) {
        reads<<<1, 64>>>(a, b, -1);
    } else if (strncmp(what, "leave-", 6) == 0) {
        for (int i = 0; i < (what[6] == '0' ? 2 : 1); i++)
            leave<<<1, 64>>>(out, 40, atoi(what + 6));
    } else if (strncmp(what, "half-", 5) == 0) {
        half_sum<<<1, 64>>>(out, atoi(what + 5));
    } else if (strcmp(what, "leak") == 0) {
        leave<<<1, 64>>>(out, 64, 0);
    } else if (strcmp(what, "refused") == 0) {
        for (int i = 0; i < 3; i++)
            cudaMemcpy(got, out, 2 * sizeof got, cudaMemcpyDeviceToHost);
        cudaSetDevice(1000);
        for (int i = 0; i < argc; i++) // two errors of one place
            cudaMalloc(i ? &none : nullptr, (size_t)1 << 60);
        cudaMalloc(&none, sizeof got);
        cudaFree(none);
        cudaMemcpy(got, none, sizeof got, cudaMemcpyDeviceToHost);
    }
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d %d %d %g %s\n", got[0], got[1], got[39], sum, cudaGetErrorName(error));
    cudaFree(out);
    cudaFree(total);
    if (strcmp(what, "leak") != 0)
        cudaFree(a);
    cudaFree(b);
    return 0;
}
