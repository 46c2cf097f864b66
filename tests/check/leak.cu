/* Device memory, streams and graphs that are still there at the end. A finding names where they
 * were made. */
#include "../async-faults/suite.cuh"

static __global__ void fill(int *y, int value)
{
    y[threadIdx.x] = value;
}

static std::vector<int> filled(int value)
{
    return std::vector<int>(64, value);
}

const size_t BYTES = 64 * sizeof(int);

template <bool fault>
static bool run_never_freed()
{
    int *y;
    cudaMalloc(&y, BYTES); // seen here: never_freed
    fill<<<1, 64>>>(y, 1);
    const bool fine = came_out<fault>(y, filled(1));
    if (!fault) // fault here: never_freed
        cudaFree(y);
    return fine;
}

template <bool fault>
static bool early_return(int rounds)
{
    int *a, *b;
    cudaMalloc(&a, BYTES);
    cudaMalloc(&b, BYTES); // seen here: early_return
    if (rounds == 0) {
        cudaFree(a);
        if (!fault) // fault here: early_return
            cudaFree(b);
        return true;
    }
    fill<<<1, 64>>>(a, rounds);
    fill<<<1, 64>>>(b, rounds + 1);
    bool fine = came_out<fault>(a, filled(rounds));
    fine &= came_out<fault>(b, filled(rounds + 1));
    cudaFree(a);
    cudaFree(b);
    return fine;
}

template <bool fault>
static bool run_early_return()
{
    return early_return<fault>(2) && early_return<fault>(0);
}

template <bool fault>
static bool run_grown_in_loop()
{
    int *y = nullptr;
    size_t have = 0;
    bool fine = true;
    for (size_t need : {BYTES, 2 * BYTES, BYTES}) {
        if (need > have) {
            if (!fault) // fault here: grown_in_loop
                cudaFree(y);
            cudaMalloc(&y, need); // seen here: grown_in_loop
            have = need;
        }
        fill<<<1, 64>>>(y, (int)need);
        fine &= came_out<fault>(y, filled((int)need));
    }
    cudaFree(y);
    return fine;
}

template <bool fault>
static bool run_one_of_three()
{
    int *part[3];
    bool fine = true;
    for (int i = 0; i < 3; i++) {
        cudaMalloc(&part[i], BYTES); // seen here: one_of_three
        fill<<<1, 64>>>(part[i], i);
        fine &= came_out<fault>(part[i], filled(i));
    }
    for (int i = fault ? 1 : 0; i < 3; i++) // fault here: one_of_three
        cudaFree(part[i]);
    return fine;
}

template <bool fault>
static bool run_left_in_stream()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int *y;
    cudaMallocAsync(&y, BYTES, stream); // seen here: left_in_stream
    fill<<<1, 64, 0, stream>>>(y, 5);
    const bool fine = came_out<fault>(y, filled(5));
    if (!fault) // fault here: left_in_stream
        cudaFreeAsync(y, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return fine;
}

/* Rows of an odd width get memory of their own, with padding. */
template <bool fault>
static bool odd_width(int *y, int width)
{
    int *padded = nullptr;
    size_t pitch = 0;
    if (width % 2 == 1)
        cudaMallocPitch(&padded, &pitch, width * sizeof(int), 4); // seen here: odd_width
    int *to = padded ? padded : y;
    fill<<<1, width>>>(to, width);
    const bool fine = came_out<fault>(to, std::vector<int>(width, width));
    if (fault ? width % 2 == 0 : width % 2 == 1) // fault here: odd_width
        cudaFree(padded);
    return fine;
}

template <bool fault>
static bool run_odd_width()
{
    array<int> y(64);
    return odd_width<fault>(y, 64) && odd_width<fault>(y, 63);
}

template <bool fault>
static bool run_stream_never_destroyed()
{
    array<int> y(64);
    cudaStream_t stream;
    cudaStreamCreate(&stream); // seen here: stream_never_destroyed
    fill<<<1, 64, 0, stream>>>(y, 6);
    const bool fine = came_out<fault>(y.p, filled(6));
    if (!fault) // fault here: stream_never_destroyed
        cudaStreamDestroy(stream);
    return fine;
}

template <bool fault>
static bool run_event_of_last_round()
{
    array<int> y(64);
    bool fine = true;
    for (int i = 0; i < 3; i++) {
        cudaEvent_t done;
        cudaEventCreate(&done); // seen here: event_of_last_round
        fill<<<1, 64>>>(y, i);
        cudaEventRecord(done, 0);
        fine &= came_out<fault>(y.p, filled(i));
        if (!fault || i < 2) // fault here: event_of_last_round
            cudaEventDestroy(done);
    }
    return fine;
}

/* What is replayed is a copy of the graph: both have an end of their own. */
template <bool lose_graph, bool lose_replay>
static bool replayed(cudaStream_t stream)
{
    array<int> y(64);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    fill<<<1, 64, 0, stream>>>(y, 7);
    cudaStreamEndCapture(stream, &graph);    // seen here: graph_after_instantiate
    cudaGraphInstantiate(&replay, graph, 0); // seen here: replay_of_a_graph
    if (!lose_graph)
        cudaGraphDestroy(graph);
    cudaGraphLaunch(replay, stream);
    const bool fine = came_out < lose_graph || lose_replay > (y.p, filled(7));
    if (!lose_replay)
        cudaGraphExecDestroy(replay);
    return fine;
}

template <bool lose_graph, bool lose_replay>
static bool in_stream()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    const bool fine = replayed<lose_graph, lose_replay>(stream);
    cudaStreamDestroy(stream);
    return fine;
}

template <bool fault>
static bool run_graph_after_instantiate()
{
    return in_stream<fault, false>(); // fault here: graph_after_instantiate
}

template <bool fault>
static bool run_replay_of_a_graph()
{
    return in_stream<false, fault>(); // fault here: replay_of_a_graph
}

/* Made once and held by a static variable to the end of the program: no leak. */
template <bool fault>
static bool run_kept_and_made_anew()
{
    static cudaEvent_t kept;
    array<int> y(64);
    bool fine = true;
    for (int i = 0; i < 2; i++) {
        if (i > 0 && !fault) // fault here: kept_and_made_anew
            cudaEventDestroy(kept);
        cudaEventCreate(&kept); // seen here: kept_and_made_anew
        fill<<<1, 64>>>(y, i);
        cudaEventRecord(kept, 0);
        fine &= came_out<fault>(y.p, filled(i));
    }
    return fine;
}

int main(int argc, char **argv)
{
    static const planted list[] = {
        PLAIN(never_freed, "an allocation without cudaFree"),
        SUBTLE(early_return, "the second allocation, on the path of an early return"),
        SUBTLE(grown_in_loop, "the old memory, when a buffer grows in its second round"),
        SUBTLE(one_of_three, "the loop that frees begins one too late"),
        SUBTLE(left_in_stream, "cudaMallocAsync without cudaFreeAsync"),
        SUBTLE(odd_width, "memory that only odd widths need is freed for even ones"),
        PLAIN(stream_never_destroyed, "a stream without cudaStreamDestroy"),
        SUBTLE(event_of_last_round, "of an event a round, the last is not destroyed"),
        SUBTLE(graph_after_instantiate, "the graph, though its executable one is destroyed"),
        SUBTLE(replay_of_a_graph, "the executable graph, though its graph is destroyed"),
        SUBTLE(kept_and_made_anew, "the old event, when a static variable gets another"),
    };
    return suite("leak", list, argc, argv);
}
