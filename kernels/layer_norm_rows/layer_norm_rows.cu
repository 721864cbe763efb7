// LayerNorm of rows of COLUMNS floats, without weights. GROUP threads share a row, four vectors of four floats each at a time; a
// block has BLOCK threads. The passes that stand alone go over the whole matrix, so that the next one finds nothing in L2.

#define ALL 0xffffffffu
// Turns in which a group has read its row.
#define TURNS (COLUMNS / (16 * GROUP))
#define SMALL 1e-5f

// Moments are pairs: in x the mean, in y the sum of squared distances from it.

__device__ __forceinline__ float added(float4 x) { return (x.x + x.y) + (x.z + x.w); }
__device__ __forceinline__ float squared(float4 x, float mean) {
    float a = x.x - mean, b = x.y - mean, c = x.z - mean, d = x.w - mean;
    return (a * a + b * b) + (c * c + d * d);
}
__device__ __forceinline__ float4 normal(float4 x, float mean, float scale) {
    return make_float4((x.x - mean) * scale, (x.y - mean) * scale, (x.z - mean) * scale, (x.w - mean) * scale);
}

// Over the lanes of a warp that share a row.
__device__ __forceinline__ float sum_of_warp(float x, unsigned group) {
#pragma unroll
    for (unsigned step = min(group, 32u) / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    return x;
}

// Over the warps that share a row; the lanes of each warp hold all of their parts.
__device__ __forceinline__ float sum_of_parts(float x, unsigned group) {
#pragma unroll
    for (unsigned step = group / 64; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    return x;
}

__device__ __forceinline__ unsigned part_of_row(unsigned group) {
    return threadIdx.x / group * (group / 32) + threadIdx.x % max(group / 32, 1u);
}

__device__ __forceinline__ float sum_of_row(float x, unsigned group) {
    __shared__ float parts[32];
    x = sum_of_warp(x, group);
    if (group > 32) {
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
        __syncthreads();
        x = sum_of_parts(parts[part_of_row(group)], group);
    }
    return x;
}

// Moments of equal parts merge to those of the whole: the mean of the means, and what lies between the means on top of the squares.
__device__ __forceinline__ float2 merged(float2 own, unsigned group) {
    __shared__ float means[32], squares[32];
    float each = (float)COLUMNS / group, lanes = min(group, 32u);
    float mean = sum_of_warp(own.x, group) / lanes;
    float off = own.x - mean;
    float sum = sum_of_warp(own.y + each * off * off, group);
    if (group > 32) {
        if (threadIdx.x % 32 == 0) {
            means[threadIdx.x / 32] = mean;
            squares[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        float part = means[part_of_row(group)];
        mean = sum_of_parts(part, group) / (group / 32);
        off = part - mean;
        sum = sum_of_parts(squares[part_of_row(group)] + 32.0f * each * off * off, group);
    }
    return make_float2(mean, sum);
}

__device__ __forceinline__ unsigned long long row_of() {
    return (unsigned long long)blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;
}
__device__ __forceinline__ unsigned long long first_of(unsigned long long row) {
    return row * (COLUMNS / 4) + threadIdx.x % GROUP;
}

// Three passes: the mean, the variance around it, the result.
extern "C" __global__ void __launch_bounds__(BLOCK) first_0(const float4* in, float* means, float* scales, float4* out) {
    unsigned long long row = row_of();
    const float4* from = in + first_of(row);
    float sum = 0.0f;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum += added(x[k]);
    }
    sum = sum_of_row(sum, GROUP);
    if (threadIdx.x % GROUP == 0) means[row] = sum / COLUMNS;
}

extern "C" __global__ void __launch_bounds__(BLOCK) variance(const float4* in, const float* means, float* scales) {
    unsigned long long row = row_of();
    const float4* from = in + first_of(row);
    float mean = means[row], sum = 0.0f;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum += squared(x[k], mean);
    }
    sum = sum_of_row(sum, GROUP);
    if (threadIdx.x % GROUP == 0) scales[row] = rsqrtf(sum / COLUMNS + SMALL);
}

// The last pass, of three as of two.
extern "C" __global__ void finish(const float4* in, const float* means, const float* scales, float4* out) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x, row = at / (COLUMNS / 4);
    out[at] = normal(in[at], means[row], scales[row]);
}

// Welford: both moments in one pass. Sixteen numbers at a time join those before them.
extern "C" __global__ void __launch_bounds__(BLOCK) first_1(const float4* in, float* means, float* scales, float4* out) {
    unsigned long long row = row_of();
    const float4* from = in + first_of(row);
    float2 own = make_float2(0.0f, 0.0f);
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
        float sum = 0.0f, squares = 0.0f;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum += added(x[k]);
        float mean = sum / 16.0f;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) squares += squared(x[k], mean);
        float off = mean - own.x, share = 1.0f / (turn + 1);
        own.x += off * share;
        own.y += squares + off * off * 16.0f * turn * share;
    }
    own = merged(own, GROUP);
    if (threadIdx.x % GROUP == 0) {
        means[row] = own.x;
        scales[row] = rsqrtf(own.y / COLUMNS + SMALL);
    }
}

// The row stays in registers, read once and written once: CHIP threads share it, each with KEPT vectors.
extern "C" __global__ void __launch_bounds__(CHIP_BLOCK, CHIP_BLOCKS) first_2(const float4* in, float* means, float* scales,
                                                                          float4* out) {
    unsigned long long first =
        ((unsigned long long)blockIdx.x * (CHIP_BLOCK / CHIP) + threadIdx.x / CHIP) * (COLUMNS / 4) + threadIdx.x % CHIP;
    float4 x[KEPT];
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) x[k] = in[first + k * CHIP];
    float2 own = make_float2(0.0f, 0.0f);
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) own.x += added(x[k]);
    own.x /= 4 * KEPT;
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) own.y += squared(x[k], own.x);
    float2 all = merged(own, CHIP);
    float scale = rsqrtf(all.y / COLUMNS + SMALL);
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) out[first + k * CHIP] = normal(x[k], all.x, scale);
}
