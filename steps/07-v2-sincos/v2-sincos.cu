/* 07-v2-sincos: V2, no table: cosines and sines computed where they are needed
 *
 * Grows from: 06-v1-float4, at most 40 % of its story new
 * Architecture: 75
 * Profile: kernels=attention warm --case D2048 --case D2048-H32
 *
 * Idea     Trade loads for the special-function units. Angle, cosine and sine are computed in
 *          registers, position * powf(10000, -2i/R) and __sincosf, so no table is read.
 * Predict  By the rates of the units the loads of k are then the most work again: 16 cycles per
 *          pair and warp, where the special-function units have 12. If there are always warps to
 *          work for, v2 saves the 16 cycles of the table, and powf costs no time.
 * Outcome  Refuted. With 4 heads v2 loses to v1-float4 at every D, and each unit is mostly idle:
 *          too few warps have keys, and we think that each waits for its previous instruction. With
 *          the powers handed in v2 is level with v1-float4. With 32 heads there are more warps, and
 *          v2 is slightly ahead. At position 131027 an angle in fp32 is too far off for any
 *          verdict; v2-integer is not.
 */
#include "cuda/float4.cuh"
#include "cuda/rope_angle.cuh"
#include "cuda/rope_ladder.cuh"

// Functions that the kernel calls, in this order. Their definitions, below, explain them.
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query);
static __device__ __noinline__ float score_keys(attention_args a, block_rows own,
                                                const float *query, float *score);

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: per block 4 D Sk flops, 3 R Sk for the rotations, and one read of k and v; R / 2 angles
// per key
static __global__ void attention_v2(attention_args a)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[THREADS];
    float *query = staged;
    float *score = staged + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query(a, own, query);
    __syncthreads();
    const float row_max = score_keys(a, own, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

// snippet: angle
// The cosine and sine of pair i at a position -> *c, *s
// cost: a division, a powf, a sine and a cosine
static __device__ __forceinline__ void angle(int position, int i, int R, float *c, float *s)
{
    // solution: compute-angle -- frequency by powf, angle, cosine and sine
    // hint: At position p the angle of pair i is `p * 10000^(-2i/R)`. position, i and R are
    //     integers in C. What would `-2 * i / R` be, computed in integers?
    // hint: Compute the frequency first: powf of 10000.0f and the exponent
    //     `-2.0f * (float)i / (float)R`. The angle is the frequency times the position as a float.
    // hint: `__sincosf` takes three arguments: the angle, the address for the sine, the address
    //     for the cosine. The sine's address comes first, and s and c are addresses already.
    const float frequency = powf(10000.0f, -2.0f * (float)i / (float)R);
    __sincosf((float)position * frequency, s, c);
    // end solution: compute-angle
}
// end snippet: angle

// The same for pairs i to i + 3
static __device__ __forceinline__ void four_angles(int position, int i, int R, float4 *c, float4 *s)
{
    angle(position, i, R, &c->x, &s->x);
    angle(position, i + 1, R, &c->y, &s->y);
    angle(position, i + 2, R, &c->z, &s->z);
    angle(position, i + 3, R, &c->w, &s->w);
}

// q [D] of the block's query -> query [D] in shared memory, rotated. Rows and halves of rows begin
// at multiples of 16 bytes.
// cost: one rotation per block
static __device__ __forceinline__ void rotate_query(attention_args a, block_rows own, float *query)
{
    const int half = a.R / 2;
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = 4 * threadIdx.x; t < a.D - half; t += 4 * blockDim.x) {
        const float4 y = load_four(own.q + t + half);
        if (t < half) {
            const float4 x = load_four(own.q + t);
            float4 c, s;
            four_angles(a.pos0 + own.position, t, a.R, &c, &s);
            COUNT("element rotations", 8);
            store_four(query + t, rotate_lower(x, y, c, s));
            store_four(query + t + half, rotate_upper(x, y, c, s));
        } else {
            store_four(query + t + half, y);
        }
    }
}

// snippet: score-keys
// query [D] rotated, k [Sk][D] not rotated -> score [visible], one key per thread, which rotates it
// in registers, four pairs at a time. Returns the thread's row_max.
// cost: a block rotates Sk keys, a head Sq Sk; R / 2 angles per key
static __device__ __noinline__ float score_keys(attention_args a, block_rows own,
                                                const float *query, float *score)
{
    const int half = a.R / 2;
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        float dot = 0.0f;
        COUNT("K rotations", a.R > 0);
        for (int i = 0; i < half; i += 4) {
            const float4 x = load_four(key + i);
            const float4 y = load_four(key + i + half);
            float4 c, s;
            four_angles(a.pos0 + j, i, a.R, &c, &s);
            COUNT("element rotations", 8);
            dot = add_products(dot, load_four(query + i), rotate_lower(x, y, c, s));
            dot = add_products(dot, load_four(query + i + half), rotate_upper(x, y, c, s));
        }
        for (int d = a.R; d < a.D; d += 4) {
            dot = add_products(dot, load_four(query + d), load_four(key + d));
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}
// end snippet: score-keys

// same as step 06
// Rows begin at multiples of 16 bytes if D % 4 == 0. Their halves do, too, if R / 2 % 4 == 0.
static bool is_wide(attention_args a)
{
    return a.D % 4 == 0 && a.R % 8 == 0;
}

// The same with loads of 4 bytes; defined below.
static void launch_v2_narrow(const kf_run *run, cudaStream_t stream);

static void launch_v2(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    if (!is_wide(a)) {
        launch_v2_narrow(run, stream);
        return;
    }
    attention_v2<<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// The source of cosines and sines: step 06's table; V2's fast functions; or other ones.
enum angles { FROM_TABLE, FAST, ACCURATE, NO_POWF, INTEGER };

// Frequencies that are inputs, [R/2]: in radians per position, and those of rope_angle.cuh.
struct frequencies {
    const float *radians;
    const rope_frequency *revolutions;
};

// The cosine and sine of pair i in row j, at position pos0 + j -> *c, *s
template <angles from>
static __device__ __forceinline__ void angle_by(attention_args a, frequencies given, int j, int i,
                                                float *c, float *s)
{
    if (from == FROM_TABLE) {
        COUNT("table loads", 2);
        *c = a.cosine[(int64_t)j * (a.R / 2) + i];
        *s = a.sine[(int64_t)j * (a.R / 2) + i];
        return;
    }
    if (from == INTEGER) {
        rope_cos_sin_fast(a.pos0 + j, given.revolutions[i], c, s);
        return;
    }
    // solution: compute-angle-by -- the same, with what each variant computes
    // hint: Two things differ from compute-angle: j is a row and not a position, and the variants
    //     differ. FROM_TABLE and INTEGER have returned already. Which part of the computation does
    //     NO_POWF change, and which part ACCURATE? FAST changes none.
    // hint: The position of row j is `a.pos0 + j`. NO_POWF reads the frequency from
    //     `given.radians[i]`, and must not call powf besides. ACCURATE calls sincosf in place of
    //     `__sincosf`, with the same three arguments.
    // hint: Declare the frequency as `from == NO_POWF ? given.radians[i] : ...`, with powf after
    //     the colon only; its R is a.R. If at is the angle, a second condition on from chooses
    //     between `sincosf(at, s, c)` and `__sincosf(at, s, c)`.
    const float frequency =
        from == NO_POWF ? given.radians[i] : powf(10000.0f, -2.0f * (float)i / (float)a.R);
    const float at = (float)(a.pos0 + j) * frequency;
    if (from == ACCURATE) {
        sincosf(at, s, c);
    } else {
        __sincosf(at, s, c);
    }
    // end solution: compute-angle-by
}

// The same for pairs i to i + 3
template <angles from>
static __device__ __forceinline__ void angle_by(attention_args a, frequencies given, int j, int i,
                                                float4 *c, float4 *s)
{
    if (from == FROM_TABLE) {
        COUNT("table loads", 8);
        *c = load_four(a.cosine + (int64_t)j * (a.R / 2) + i);
        *s = load_four(a.sine + (int64_t)j * (a.R / 2) + i);
        return;
    }
    angle_by<from>(a, given, j, i, &c->x, &s->x);
    angle_by<from>(a, given, j, i + 1, &c->y, &s->y);
    angle_by<from>(a, given, j, i + 2, &c->z, &s->z);
    angle_by<from>(a, given, j, i + 3, &c->w, &s->w);
}

// As rotate_query. floats: float or float4, the type of a load
template <angles from, typename floats>
static __device__ __forceinline__ void rotate_query_by(attention_args a, block_rows own,
                                                       frequencies given, float *query)
{
    const int half = a.R / 2, width = sizeof(floats) / sizeof(float);
    COUNT("Q rotations", threadIdx.x == 0 && a.R > 0);
    for (int t = width * threadIdx.x; t < a.D - half; t += width * blockDim.x) {
        const floats y = load<floats>(own.q + t + half);
        if (t < half) {
            const floats x = load<floats>(own.q + t);
            floats c, s;
            angle_by<from>(a, given, own.position, t, &c, &s);
            COUNT("element rotations", 2 * width);
            store(query + t, rotate_lower(x, y, c, s));
            store(query + t + half, rotate_upper(x, y, c, s));
        } else {
            store(query + t + half, y);
        }
    }
}

// As score_keys, with angles and loads of this kind.
template <angles from, typename floats>
static __device__ __noinline__ float
score_keys_by(attention_args a, block_rows own, frequencies given, const float *query, float *score)
{
    const int half = a.R / 2, width = sizeof(floats) / sizeof(float);
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < own.visible; j += blockDim.x) {
        const float *key = own.k + (int64_t)j * a.D;
        float dot = 0.0f;
        COUNT("K rotations", a.R > 0);
        for (int i = 0; i < half; i += width) {
            const floats x = load<floats>(key + i);
            const floats y = load<floats>(key + i + half);
            floats c, s;
            angle_by<from>(a, given, j, i, &c, &s);
            COUNT("element rotations", 2 * width);
            dot = add_products(dot, load<floats>(query + i), rotate_lower(x, y, c, s));
            dot = add_products(dot, load<floats>(query + i + half), rotate_upper(x, y, c, s));
        }
        for (int d = a.R; d < a.D; d += width) {
            dot = add_products(dot, load<floats>(query + d), load<floats>(key + d));
        }
        score[j] = dot * a.scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

// One kernel for each size of the L1 cache, because the size is an attribute of a kernel.
enum l1_cache { USUAL_L1, SMALL_L1 };

template <angles from, typename floats, l1_cache l1>
static __global__ void attention_v2_by(attention_args a, frequencies given)
{
    extern __shared__ __align__(16) float staged[];
    __shared__ float scratch[THREADS];
    float *query = staged;
    float *score = staged + a.D;
    const block_rows own = rows_of_block(a);

    rotate_query_by<from, floats>(a, own, given, query);
    __syncthreads();
    const float row_max = score_keys_by<from, floats>(a, own, given, query, score);
    softmax_times_v(score, row_max, own.v, own.o, own.visible, a.D, scratch);
}

template <angles from, typename floats, l1_cache l1>
static void enqueue(const kf_run *run, attention_args a, cudaStream_t stream)
{
    const frequencies given = {kf_f32(run, "frequency_fp32"), rope_frequencies(run)};
    if (l1 == SMALL_L1) {
        CUDA_CHECK(cudaFuncSetAttribute(attention_v2_by<from, floats, l1>,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        ALL_TO_SHARED_MEMORY));
    }
    attention_v2_by<from, floats, l1>
        <<<dim3(a.Sq, run->shape.H), THREADS, query_and_scores(a), stream>>>(a, given);
    CUDA_CHECK_LAUNCH();
}

template <angles from, l1_cache l1 = USUAL_L1>
static void launch_by(const kf_run *run, cudaStream_t stream)
{
    const attention_args a = arguments_to_rotate(run);
    if (is_wide(a)) {
        enqueue<from, float4, l1>(run, a, stream);
    } else {
        enqueue<from, float, l1>(run, a, stream);
    }
}

static void launch_v2_narrow(const kf_run *run, cudaStream_t stream)
{
    enqueue<FAST, float, USUAL_L1>(run, arguments_to_rotate(run), stream);
}

// As in step 06: its kernel at R = 0, after the two kernels that rotate.
static void launch_separate_float4(const kf_run *run, cudaStream_t stream)
{
    launch_rope_q(run, stream);
    launch_rope_k(run, stream);
    if (run->shape.D % 4 == 0) {
        enqueue<FROM_TABLE, float4, USUAL_L1>(run, arguments_rotated(run), stream);
    } else {
        enqueue<FROM_TABLE, float, USUAL_L1>(run, arguments_rotated(run), stream);
    }
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    const int64_t half = run->shape.R / 2;
    ladder_setup(run);
    rope_frequency_table(run);
    kf_tensor *frequency = kf_input(run, "frequency_fp32", "R", KF_F32, &half);
    for (int64_t i = 0; i < half; i++) {
        frequency->host[i] = (float)pow(10000.0, -2.0 * i / run->shape.R);
    }
}

static double accurate_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, false);
}

// For variants with fp32 angles that only explain a time.
static bool explains_near(const kf_case *c)
{
    return ladder_explains(c) && ladder_near(c);
}

static const kf_variant variants[] = {
    {.name = "separate",
     .about = "RoPE on q, RoPE on k, attention: three launches",
     .launch = launch_separate},
    {.name = "separate-float4",
     .about = "step 06's: separate, 16-byte loads in its attention",
     .launch = launch_separate_float4,
     .applies = ladder_explains},
    {.name = "v1-float4",
     .about = "step 06's: one launch, a table",
     .launch = launch_by<FROM_TABLE>,
     .applies = ladder_explains},
    {.name = "v2",
     .about = "no table: powf and __sincosf",
     .launch = launch_v2,
     .applies = ladder_near,
     .extra_error = ladder_angle_error},
    {.name = "v2-accurate",
     .about = "no table: powf and sincosf",
     .launch = launch_by<ACCURATE>,
     .applies = explains_near,
     .extra_error = accurate_error},
    {.name = "v2-no-powf",
     .about = "frequencies handed in, __sincosf",
     .launch = launch_by<NO_POWF>,
     .applies = explains_near,
     .extra_error = ladder_angle_error},
    {.name = "v2-integer",
     .about = "frequencies handed in as integers, exact angles, __sincosf",
     .launch = launch_by<INTEGER>,
     .applies = ladder_explains,
     .extra_error = rope_fast_angle_error},
    {.name = "v1-float4-small-l1",
     .about = "v1-float4 with the least L1 cache",
     .launch = launch_by<FROM_TABLE, SMALL_L1>,
     .applies = ladder_many_heads},
    {.name = "v2-small-l1",
     .about = "v2 with the least L1 cache",
     .launch = launch_by<FAST, SMALL_L1>,
     .applies = ladder_many_heads,
     .extra_error = ladder_angle_error},
};

static const kf_question questions[] = {
    {.text = "How many calls of powf does a block of v2 make at D = R = 128, for its query and its "
             "64 keys?",
     .figure = "pow/blocks",
     .case_name = "D128",
     .variant = "v2"},
    {.text = "With 4 heads of D = 2048, how many times as fast is v1-float4 (reads cosines and "
             "sines from a table) as v2?",
     .figure = "median_us",
     .case_name = "D2048",
     .variant = "v2",
     .over = "v1-float4"},
    {.text = "Which is faster with 32 heads of D = 2048 in place of 4: v1-float4 or v2?",
     .figure = "median_us",
     .case_name = "D2048-H32",
     .among = "v1-float4 v2"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "07-v2-sincos",
        .title = "V2, no table: cosines and sines computed where they are needed",
        KF_TABLES(ladder_more_heads, variants),
        .setup = setup,
        KF_TABLE(questions, questions),
    };
    return ladder_main(&program, argc, argv);
}
