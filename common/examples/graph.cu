/* graph: the same two launches in a stream and in a graph, between two events. */
#include "check.h"

__global__ void add(float *x, float value)
{
    *x += value;
}

__global__ void twice(float *x)
{
    *x *= 2;
}

static float value_of(const float *x)
{
    float value;
    CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

int main(void)
{
    float *x;
    CHECK(cudaMalloc(&x, sizeof *x));
    CHECK(cudaMemset(x, 0, sizeof *x));

    cudaStream_t stream;
    cudaEvent_t begin, end;
    float ms;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    // snippet: stream
    CHECK(cudaEventRecord(begin, stream));
    add<<<1, 1, 0, stream>>>(x, 3); // enqueued: the host goes on at once
    twice<<<1, 1, 0, stream>>>(x);  // begins when the launch before it has ended
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream)); // now the host waits
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    // end snippet: stream
    printf("stream: (0 + 3) * 2 = %.0f, in %s time\n", value_of(x), ms > 0 ? "some" : "no");

    cudaGraph_t graph;
    cudaGraphExec_t program;
    // snippet: graph
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(x, 3); // noted, not run
    twice<<<1, 1, 0, stream>>>(x);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&program, graph, 0));
    printf("captured, not run: %.0f\n", value_of(x));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(program, stream)); // both launches, by one call
    CHECK(cudaStreamSynchronize(stream));
    printf("replayed three times: %.0f\n", value_of(x));
    // end snippet: graph

    CHECK(cudaGraphExecDestroy(program));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
    return 0;
}
