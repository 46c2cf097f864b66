/* What nvcc includes before a file is there without a word of it, and more: nvcc itself wants
 * <cstdio> and <cassert> for the kernel, and refuses this file. */
__global__ void write(int *p)
{
    assert(p);
    p[threadIdx.x] = INT_MAX;
    printf("%d\n", *p);
}
template <class T>
static T last(std::initializer_list<T> list)
{
    return *(list.end() - 1);
}
static_assert(std::is_same<int, int>::value, "");

int main()
{
    const time_t now = time(NULL);
    const clock_t ticks = std::clock();
    auto pair = std::make_pair(1, -2.5);
    int *p = static_cast<int *>(malloc(sizeof *p)), q = 0;
    new (p) int(3);
    memset(&q, 0, sizeof q);
    std::swap(*p, q);
    const bool fine = now > 0 && ticks >= 0 && q == 3 && *p == 0 && isalpha('a') &&
                      std::numeric_limits<float>::max() > 1e38f && std::abs(pair.second) == 2.5 &&
                      strlen("abc") == 3 && last({1, pair.first}) == 1 && std::max(q, *p) == 3 &&
                      std::min(2u, 5u) == 2;
    free(p);
    return fine ? 0 : 1;
}
