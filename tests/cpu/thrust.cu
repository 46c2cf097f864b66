/* The toolkit's Thrust: what common programs do with it. Prints "N checks, 0 failed". On a GPU too.
 */
#include "check.h"

#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_malloc.h>
#include <thrust/device_free.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/merge.h>
#include <thrust/pair.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>

struct twice {
    __host__ __device__ int operator()(int a) const
    {
        return 2 * a;
    }
};
struct is_odd {
    __host__ __device__ bool operator()(int a) const
    {
        return a % 2 != 0;
    }
};
struct add_pair {
    __host__ __device__ int operator()(const thrust::tuple<int, int> &t) const
    {
        return thrust::get<0>(t) + thrust::get<1>(t);
    }
};
struct random_below {
    __host__ __device__ int operator()(int i) const
    {
        thrust::default_random_engine engine;
        thrust::uniform_int_distribution<int> below(0, 99);
        engine.discard(i);
        return below(engine);
    }
};
struct store {
    int *to;
    __device__ void operator()(int i) const
    {
        to[i] = 3 * i;
    }
};

__global__ void add_one(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}
__global__ void in_kernel(int *p, int n, int *out)
{
    if (threadIdx.x == 0) {
        thrust::sort(thrust::device, p, p + n);
        out[0] = thrust::reduce(thrust::seq, p, p + n);
        const thrust::complex<float> a(0, 1);
        out[1] = (int)(a * a).real();
    }
}

template <class A, class B>
bool same(const A &a, const B &b)
{
    thrust::host_vector<int> x(a.begin(), a.end()), y(b.begin(), b.end());
    if (x.size() != y.size())
        return false;
    for (size_t i = 0; i < x.size(); i++)
        if (x[i] != y[i])
            return false;
    return true;
}
typedef thrust::device_vector<int> ints;
ints of(std::initializer_list<int> values)
{
    thrust::host_vector<int> h(values.begin(), values.end());
    return ints(h);
}

static void vectors()
{
    thrust::host_vector<int> h(100);
    for (int i = 0; i < 100; i++)
        h[i] = i * 37 % 100;
    ints d = h, e(100), f(3, 7), none;
    CHECK(d.size() == 100 && d[1] == 37 && f[2] == 7 && none.empty());
    d[1] = 5;
    CHECK(d[1] == 5 && h[1] == 37);
    d[1] = d[2];
    CHECK(d[1] == 74);
    h = d;
    CHECK(h[1] == 74);
    d.resize(120, 9);
    d.push_back(11);
    CHECK(d.size() == 121 && d[119] == 9 && d.back() == 11 && d.front() == 0);
    thrust::swap(e, d);
    CHECK(e.size() == 121 && d.size() == 100);
    d = e;
    add_one<<<1, 128>>>(thrust::raw_pointer_cast(d.data()), 121);
    CHECK(d[120] == 12);
    d.insert(d.begin(), 4);
    d.erase(d.begin() + 1);
    CHECK(d[0] == 4 && d.size() == 121);
    d.clear();
    CHECK(d.empty());
    thrust::universal_vector<int> u(4, 1);
    add_one<<<1, 4>>>(thrust::raw_pointer_cast(u.data()), 4);
    cudaDeviceSynchronize();
    CHECK(u[3] == 2);
    int plain[3] = {1, 2, 3};
    ints g(plain, plain + 3);
    thrust::copy(g.begin(), g.end(), plain + 0);
    CHECK(g[2] == 3 && plain[2] == 3);
    std::vector<int> s(3);
    thrust::copy(g.begin(), g.end(), s.begin());
    CHECK(s[1] == 2);
}

static void algorithms()
{
    ints d(8), e(8);
    thrust::sequence(d.begin(), d.end());
    thrust::transform(d.begin(), d.end(), e.begin(), twice());
    CHECK(same(e, of({0, 2, 4, 6, 8, 10, 12, 14})));
    thrust::transform(d.begin(), d.end(), e.begin(), e.begin(), thrust::plus<int>());
    CHECK(thrust::reduce(e.begin(), e.end()) == 84);
    CHECK(thrust::reduce(e.begin(), e.end(), -1, thrust::maximum<int>()) == 21);
    CHECK(thrust::transform_reduce(d.begin(), d.end(), twice(), 0, thrust::plus<int>()) == 56);
    CHECK(thrust::inner_product(d.begin(), d.end(), d.begin(), 0) == 140);
    thrust::fill(e.begin(), e.end(), 1);
    thrust::exclusive_scan(e.begin(), e.end(), e.begin());
    CHECK(same(e, d));
    thrust::inclusive_scan(thrust::device, d.begin(), d.end(), e.begin());
    CHECK(e[7] == 28);
    thrust::transform_inclusive_scan(d.begin(), d.end(), e.begin(), twice(), thrust::plus<int>());
    CHECK(e[7] == 56);
    thrust::adjacent_difference(d.begin(), d.end(), e.begin());
    CHECK(same(e, of({0, 1, 1, 1, 1, 1, 1, 1})));
    CHECK(thrust::count(e.begin(), e.end(), 1) == 7);
    CHECK(thrust::count_if(d.begin(), d.end(), is_odd()) == 4);
    CHECK(thrust::find(d.begin(), d.end(), 5) - d.begin() == 5);
    CHECK(thrust::find_if(d.begin(), d.end(), is_odd()) - d.begin() == 1);
    CHECK(thrust::all_of(d.begin(), d.end(), is_odd()) == false);
    CHECK(thrust::equal(d.begin(), d.end(), d.begin()));
    CHECK(thrust::max_element(d.begin(), d.end()) - d.begin() == 7);
    CHECK(*thrust::min_element(d.begin(), d.end()) == 0);
    auto both = thrust::minmax_element(d.begin(), d.end());
    CHECK(*both.first == 0 && *both.second == 7);
    thrust::reverse(d.begin(), d.end());
    CHECK(d[0] == 7 && thrust::is_sorted(d.begin(), d.end()) == false);
    thrust::sort(d.begin(), d.end());
    CHECK(thrust::is_sorted(d.begin(), d.end()));
    thrust::sort(d.begin(), d.end(), thrust::greater<int>());
    CHECK(d[0] == 7 && d[7] == 0);
    thrust::sequence(e.begin(), e.end(), 10, 10);
    thrust::sort_by_key(d.begin(), d.end(), e.begin());
    CHECK(d[0] == 0 && e[0] == 80 && e[7] == 10);
    CHECK(thrust::lower_bound(d.begin(), d.end(), 4) - d.begin() == 4);
    CHECK(thrust::binary_search(d.begin(), d.end(), 9) == false);
    auto odd_end = thrust::copy_if(d.begin(), d.end(), e.begin(), is_odd());
    CHECK(odd_end - e.begin() == 4 && e[3] == 7);
    auto end = thrust::remove_if(d.begin(), d.end(), is_odd());
    CHECK(end - d.begin() == 4 && d[3] == 6);
    thrust::replace(d.begin(), end, 6, 60);
    CHECK(d[3] == 60);
    ints u = of({1, 1, 2, 3, 3, 3}), v(6, 1), keys(6), sums(6);
    auto ends = thrust::reduce_by_key(u.begin(), u.end(), v.begin(), keys.begin(), sums.begin());
    CHECK(ends.first - keys.begin() == 3 && sums[2] == 3 && keys[1] == 2);
    thrust::exclusive_scan_by_key(u.begin(), u.end(), v.begin(), sums.begin());
    CHECK(same(sums, of({0, 1, 0, 0, 1, 2})));
    CHECK(thrust::unique(u.begin(), u.end()) - u.begin() == 3 && u[2] == 3);
    ints m(6), left = of({1, 4, 6}), right = of({2, 4, 9});
    thrust::merge(left.begin(), left.end(), right.begin(), right.end(), m.begin());
    CHECK(same(m, of({1, 2, 4, 4, 6, 9})));
    CHECK(
        thrust::set_intersection(left.begin(), left.end(), right.begin(), right.end(), m.begin()) -
            m.begin() ==
        1);
    thrust::stable_partition(m.begin(), m.end(), is_odd());
    thrust::tabulate(m.begin(), m.end(), twice());
    CHECK(m[5] == 10);
    ints where = of({2, 0, 1}), from = of({10, 20, 30}), to(3);
    thrust::gather(where.begin(), where.end(), from.begin(), to.begin());
    CHECK(same(to, of({30, 10, 20})));
    thrust::scatter(from.begin(), from.end(), where.begin(), to.begin());
    CHECK(same(to, of({20, 30, 10})));
}

static void iterators()
{
    thrust::counting_iterator<int> first(0);
    CHECK(thrust::reduce(thrust::device, first, first + 10) == 45);
    ints d(10), e(10, 2);
    thrust::copy(first, first + 10, d.begin());
    auto pairs = thrust::make_zip_iterator(thrust::make_tuple(d.begin(), e.begin()));
    thrust::transform(pairs, pairs + 10, d.begin(), add_pair());
    CHECK(d[9] == 11);
    auto doubled = thrust::make_transform_iterator(d.begin(), twice());
    CHECK(thrust::reduce(doubled, doubled + 10) == 130);
    thrust::host_vector<int> h(10);
    thrust::copy(doubled, doubled + 10, h.begin());
    CHECK(h[9] == 22);
    ints order(first, first + 3);
    auto permuted = thrust::make_permutation_iterator(d.begin(), order.begin());
    CHECK(thrust::reduce(permuted, permuted + 3) == 9);
    CHECK(thrust::reduce(thrust::device, thrust::make_constant_iterator(3),
                         thrust::make_constant_iterator(3) + 4) == 12);
    thrust::transform(first, first + 10, d.begin(), random_below());
    thrust::transform(thrust::host, first, first + 10, h.begin(), random_below());
    CHECK(same(d, h));
    thrust::for_each(first, first + 10, store{thrust::raw_pointer_cast(d.data())});
    CHECK(d[9] == 27);
    thrust::for_each_n(thrust::device, first, 5, store{thrust::raw_pointer_cast(e.data())});
    CHECK(e[4] == 12 && e[5] == 2);
}

static void pointers()
{
    int *raw, h[4] = {4, 3, 2, 1}, sum[2];
    cudaMalloc(&raw, sizeof h);
    cudaMemcpy(raw, h, sizeof h, cudaMemcpyHostToDevice);
    thrust::device_ptr<int> p(raw);
    thrust::sort(p, p + 4);
    CHECK(p[0] == 1 && p[3] == 4);
    p[0] = 10;
    thrust::sort(thrust::device, raw, raw + 4);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    CHECK(thrust::reduce(thrust::cuda::par.on(stream), raw, raw + 4) == 19);
    thrust::fill(thrust::cuda::par_nosync.on(stream), raw, raw + 4, 6);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaMemcpy(h, raw, sizeof h, cudaMemcpyDeviceToHost);
    CHECK(h[3] == 6);
    thrust::host_vector<int> host(4, 5);
    thrust::sort(host.begin(), host.end());
    thrust::sort(h, h + 4);
    CHECK(thrust::reduce(thrust::host, h, h + 4) == 24 && host[3] == 5);
    thrust::device_ptr<int> q = thrust::device_malloc<int>(4);
    thrust::copy(host.begin(), host.end(), q);
    in_kernel<<<1, 32>>>(q.get(), 4, raw);
    cudaMemcpy(sum, raw, sizeof sum, cudaMemcpyDeviceToHost);
    CHECK(sum[0] == 20 && sum[1] == -1);
    thrust::device_free(q);
    cudaFree(raw);
}

int main()
{
    vectors();
    algorithms();
    iterators();
    pointers();
    return check_result();
}
