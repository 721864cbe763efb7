// The softmax of rows of COLUMNS floats. GROUP threads share a row, four vectors of four floats each at a time; a block has
// BLOCK threads. The passes that stand alone go over the whole matrix, so that the next one finds nothing in L2.

#define ALL 0xffffffffu
// Turns in which a group has read its row.
#define TURNS (COLUMNS / (16 * GROUP))

// Online sums are pairs: in x the maximum so far, in y the sum of e^(value - maximum).

__device__ __forceinline__ float larger(float4 x) { return fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)); }
__device__ __forceinline__ float added(float4 x) { return (x.x + x.y) + (x.z + x.w); }
__device__ __forceinline__ float4 power(float4 x, float most) {
    return make_float4(expf(x.x - most), expf(x.y - most), expf(x.z - most), expf(x.w - most));
}

__device__ __forceinline__ float max_of_warp(float x, unsigned group) {
#pragma unroll
    for (unsigned step = min(group, 32u) / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, step));
    return x;
}

__device__ __forceinline__ float sum_of_warp(float x, unsigned group) {
#pragma unroll
    for (unsigned step = min(group, 32u) / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    return x;
}

// The part of the row's warps that this lane has; the lanes of a warp hold all of them.
__device__ __forceinline__ unsigned part_of_row(unsigned group) {
    return threadIdx.x / group * (group / 32) + threadIdx.x % max(group / 32, 1u);
}

// The maximum of a row, known to all of its threads.
__device__ __forceinline__ float max_of_row(float x, unsigned group) {
    __shared__ float parts[32];
    x = max_of_warp(x, group);
    if (group > 32) {
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
        __syncthreads();
        x = parts[part_of_row(group)];
#pragma unroll
        for (unsigned step = group / 64; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, step));
    }
    return x;
}

__device__ __forceinline__ float sum_of_row(float x, unsigned group) {
    __shared__ float parts[32];
    x = sum_of_warp(x, group);
    if (group > 32) {
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
        __syncthreads();
        x = parts[part_of_row(group)];
#pragma unroll
        for (unsigned step = group / 64; step > 0; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    }
    return x;
}

// Sums under maxima of their own, brought under one: each sum times e^(its maximum - the maximum of all).
__device__ __forceinline__ float2 both_of_row(float2 own, unsigned group) {
    __shared__ float maxima[32], sums[32];
    float most = max_of_warp(own.x, group);
    float sum = sum_of_warp(own.y * expf(own.x - most), group);
    if (group > 32) {
        if (threadIdx.x % 32 == 0) {
            maxima[threadIdx.x / 32] = most;
            sums[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        float part = maxima[part_of_row(group)];
        most = part;
#pragma unroll
        for (unsigned step = group / 64; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(ALL, most, step));
        sum = sums[part_of_row(group)] * expf(part - most);
#pragma unroll
        for (unsigned step = group / 64; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
    }
    return make_float2(most, sum);
}

__device__ __forceinline__ unsigned long long row_of() {
    return (unsigned long long)blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;
}
__device__ __forceinline__ unsigned long long first_of(unsigned long long row) {
    return row * (COLUMNS / 4) + threadIdx.x % GROUP;
}
__device__ __forceinline__ unsigned long long place() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ float max_of_all(const float4* from) {
    float most = -INFINITY;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) most = fmaxf(most, larger(x[k]));
    }
    return max_of_row(most, GROUP);
}

__device__ __forceinline__ float sum_of_powers(const float4* from, float most) {
    float sum = 0.0f;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum += added(power(x[k], most));
    }
    return sum_of_row(sum, GROUP);
}

// Five operators and three passes both begin with the maximum of every row.
extern "C" __global__ void __launch_bounds__(BLOCK) first_0(const float4* in, float* maxima, float* sums, float4* out) {
    unsigned long long row = row_of();
    float most = max_of_all(in + first_of(row));
    if (threadIdx.x % GROUP == 0) maxima[row] = most;
}

extern "C" __global__ void __launch_bounds__(BLOCK) first_1(const float4* in, float* maxima, float* sums, float4* out) {
    unsigned long long row = row_of();
    float most = max_of_all(in + first_of(row));
    if (threadIdx.x % GROUP == 0) maxima[row] = most;
}

// The other four of the five operators, as a framework runs them one by one.
extern "C" __global__ void subtract(const float4* in, const float* maxima, float4* out) {
    unsigned long long at = place();
    float most = maxima[at / (COLUMNS / 4)];
    float4 x = in[at];
    out[at] = make_float4(x.x - most, x.y - most, x.z - most, x.w - most);
}

extern "C" __global__ void exponential(float4* out) {
    unsigned long long at = place();
    out[at] = power(out[at], 0.0f);
}

extern "C" __global__ void __launch_bounds__(BLOCK) add_up(const float4* out, float* sums) {
    unsigned long long row = row_of();
    const float4* from = out + first_of(row);
    float sum = 0.0f;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum += added(x[k]);
    }
    sum = sum_of_row(sum, GROUP);
    if (threadIdx.x % GROUP == 0) sums[row] = sum;
}

extern "C" __global__ void divide(float4* out, const float* sums) {
    unsigned long long at = place();
    float sum = sums[at / (COLUMNS / 4)];
    float4 x = out[at];
    out[at] = make_float4(x.x / sum, x.y / sum, x.z / sum, x.w / sum);
}

// The second of three passes.
extern "C" __global__ void __launch_bounds__(BLOCK) sum_powers(const float4* in, const float* maxima, float* sums) {
    unsigned long long row = row_of();
    float sum = sum_of_powers(in + first_of(row), maxima[row]);
    if (threadIdx.x % GROUP == 0) sums[row] = sum;
}

// The last pass, of three as of two.
extern "C" __global__ void finish(const float4* in, const float* maxima, const float* sums, float4* out) {
    unsigned long long at = place(), row = at / (COLUMNS / 4);
    float4 x = power(in[at], maxima[row]);
    float sum = sums[row];
    out[at] = make_float4(x.x / sum, x.y / sum, x.z / sum, x.w / sum);
}

// Online: maximum and sum in one pass. Whenever the maximum rises, the sum so far shrinks to fit it.
extern "C" __global__ void __launch_bounds__(BLOCK) first_2(const float4* in, float* maxima, float* sums, float4* out) {
    unsigned long long row = row_of();
    const float4* from = in + first_of(row);
    float2 own = make_float2(-FLT_MAX, 0.0f);
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = from[(turn * 4 + k) * GROUP];
        float most = own.x;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) most = fmaxf(most, larger(x[k]));
        own.y *= expf(own.x - most);
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) own.y += added(power(x[k], most));
        own.x = most;
    }
    own = both_of_row(own, GROUP);
    if (threadIdx.x % GROUP == 0) {
        maxima[row] = own.x;
        sums[row] = own.y;
    }
}

// The row stays on the chip, read once and written once: CHIP threads share it, each with KEPT vectors in registers and SPARED in
// shared memory. Its powers stand under the thread's own maximum until all of the row is known.
extern "C" __global__ void __launch_bounds__(CHIP_BLOCK, CHIP_BLOCKS) first_3(const float4* in, float* maxima, float* sums,
                                                                          float4* out) {
    extern __shared__ float4 spare[];
    unsigned long long first =
        ((unsigned long long)blockIdx.x * (CHIP_BLOCK / CHIP) + threadIdx.x / CHIP) * (COLUMNS / 4) + threadIdx.x % CHIP;
    float4 x[KEPT];
    float2 own = make_float2(-FLT_MAX, 0.0f);
#pragma unroll
    for (int k = 0; k < SPARED; ++k) {
        float4 value = in[first + (KEPT + k) * CHIP];
        own.x = fmaxf(own.x, larger(value));
        spare[k * CHIP_BLOCK + threadIdx.x] = value;
    }
    // From here on they are in shared memory alone: all of the row at once would need twice the registers.
    if (SPARED > 0) __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) x[k] = in[first + k * CHIP];
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) own.x = fmaxf(own.x, larger(x[k]));
#pragma unroll 2
    for (int k = 0; k < SPARED; ++k) {
        float4 e = power(spare[k * CHIP_BLOCK + threadIdx.x], own.x);
        spare[k * CHIP_BLOCK + threadIdx.x] = e;
        own.y += added(e);
    }
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) {
        x[k] = power(x[k], own.x);
        own.y += added(x[k]);
    }
    float2 all = both_of_row(own, CHIP);
    float scale = expf(own.x - all.x) / all.y;
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k)
        out[first + k * CHIP] = make_float4(x[k].x * scale, x[k].y * scale, x[k].z * scale, x[k].w * scale);
#pragma unroll 2
    for (int k = 0; k < SPARED; ++k) {
        float4 e = spare[k * CHIP_BLOCK + threadIdx.x];
        out[first + (KEPT + k) * CHIP] = make_float4(e.x * scale, e.y * scale, e.z * scale, e.w * scale);
    }
}

// Three passes over a row in one launch: whoever comes back soon finds the row in L1 or L2.
extern "C" __global__ void __launch_bounds__(BLOCK) first_4(const float4* in, float* maxima, float* sums, float4* out) {
    unsigned long long first = first_of(row_of());
    float most = max_of_all(in + first);
    float sum = sum_of_powers(in + first, most);
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        float4 x[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) x[k] = in[first + (turn * 4 + k) * GROUP];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            x[k] = power(x[k], most);
            out[first + (turn * 4 + k) * GROUP] = make_float4(x[k].x / sum, x[k].y / sum, x[k].z / sum, x[k].w / sum);
        }
    }
}
