/* The toolkit's libcu++ in kernels: containers, numbers, and atomics on which threads wait. */
#include "check.h"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

template <cuda::thread_scope scope>
using number = cuda::atomic<int, scope>;
typedef number<cuda::thread_scope_device> device_int;

__device__ static cuda::std::optional<int> half_of(int n)
{
    if (n % 2)
        return cuda::std::nullopt;
    return n / 2;
}

__global__ void containers(int *out, float *reals)
{
    const int t = threadIdx.x;
    const cuda::std::array<int, 4> four = {2, 3, 5, 7};
    const cuda::std::tuple<int, float> both(t, 0.5f);
    cuda::std::span<int> all(out, 32);
    const cuda::std::complex<float> z(1, 2);
    static_assert(cuda::std::is_same<cuda::std::remove_const_t<const int>, int>::value, "");
    int sum = cuda::std::plus<int>()(four[t % 4], half_of(t).value_or(100));
    cuda::std::pair<int, int> p = cuda::std::make_pair(sum, 1);
    cuda::std::swap(p.first, p.second);
    all[t] = p.second + cuda::std::get<0>(both);
    reals[t] = (z * z).imag() + cuda::std::get<1>(both);
    if (t == 0)
        out[32] = cuda::std::numeric_limits<cuda::std::int16_t>::max();
}

__global__ void sums(device_int *sum, int *plain, int *seen)
{
    seen[blockIdx.x * blockDim.x + threadIdx.x] = sum->fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(*plain).fetch_max((int)threadIdx.x);
}

// The last warp sets what the first waits for, in either way; both are of one block.
__global__ void flags(int *out)
{
    __shared__ number<cuda::thread_scope_block> ready[2];
    if (threadIdx.x < 2)
        ready[threadIdx.x].store(0, cuda::memory_order_relaxed);
    __syncthreads();
    const bool first = threadIdx.x < 32;
    if (threadIdx.x % 32)
        return;
    if (first) {
        while (ready[0].load(cuda::memory_order_acquire) == 0)
            ;
        out[0] = 1;
        ready[1].store(1, cuda::memory_order_release);
        ready[1].notify_one();
    } else {
        ready[0].store(1, cuda::memory_order_release);
        ready[1].wait(0, cuda::memory_order_acquire);
        out[1] = 2;
    }
}

// What the first block writes the other reads once it has seen the flag.
__global__ void message(int *data, device_int *ticket, device_int *flag, int *out)
{
    if (ticket->fetch_add(1) == 0) {
        *data = 42;
        flag->store(1, cuda::memory_order_release);
    } else {
        while (flag->load(cuda::memory_order_acquire) == 0)
            ;
        *out = *data;
    }
}

// The same by an addition, and a load in the default order, which is the strictest.
__global__ void added_message(int *data, device_int *ticket, device_int *flag, int *out)
{
    if (ticket->fetch_add(1) == 0) {
        *data = 43;
        flag->fetch_add(1, cuda::memory_order_release);
    } else {
        while (flag->load() == 0)
            ;
        *out = *data;
    }
}

// And by fences: the flag itself has no order.
__global__ void fenced_message(int *data, device_int *ticket, device_int *flag, int *out)
{
    if (ticket->fetch_add(1) == 0) {
        *data = 44;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        flag->store(1, cuda::memory_order_relaxed);
    } else {
        while (flag->load(cuda::memory_order_relaxed) == 0)
            ;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *out = *data;
    }
}

int main()
{
    int *out;
    float *reals;
    device_int *atomics;
    cudaMallocManaged(&out, 512 * sizeof *out);
    cudaMallocManaged(&reals, 32 * sizeof *reals);
    cudaMallocManaged(&atomics, 7 * sizeof *atomics);
    for (int i = 0; i < 7; i++)
        new (&atomics[i]) device_int(0);

    containers<<<1, 32>>>(out, reals);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    const int primes[] = {2, 3, 5, 7};
    int wrong = 0;
    for (int t = 0; t < 32; t++)
        wrong += out[t] != primes[t % 4] + (t % 2 ? 100 : t / 2) + t || reals[t] != 4.5f;
    CHECK(wrong == 0 && out[32] == 32767);

    out[500] = 0;
    sums<<<4, 64>>>(&atomics[0], &out[500], out);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    long long all = 0;
    for (int i = 0; i < 256; i++)
        all += out[i];
    CHECK(all == 255 * 128 && atomics[0].load() == 256 && out[500] == 63);

    flags<<<1, 64>>>(out);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(out[0] == 1 && out[1] == 2);

    message<<<2, 1>>>(&out[0], &atomics[1], &atomics[2], &out[1]);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(out[1] == 42);
    added_message<<<2, 1>>>(&out[0], &atomics[3], &atomics[4], &out[1]);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(out[1] == 43);
    fenced_message<<<2, 1>>>(&out[0], &atomics[5], &atomics[6], &out[1]);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(out[1] == 44);
    cudaFree(out);
    cudaFree(reals);
    cudaFree(atomics);
    return check_result();
}
