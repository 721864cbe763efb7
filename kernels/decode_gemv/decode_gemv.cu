// out[j][i] = Σ_k x[j][k] * w[i][k], bf16 in and out, added in fp32 by the ordinary cores. A warp makes ROWS weight rows
// times TILE rows of the batch, 32 sums at most; a lane takes 8 neighbours of a row at a time. With w_rows below n_rows the same weights come
// again, which L2 has lost by then. N_INNER is a multiple of 256.

__device__ __forceinline__ float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float high(unsigned pair) { return __uint_as_float(pair & 0xFFFF0000u); }

__device__ __forceinline__ unsigned short to_bf16(float value) {
    unsigned bits = __float_as_uint(value);
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

__device__ __forceinline__ void widen(uint4 four, float* to) {
    to[0] = low(four.x), to[1] = high(four.x), to[2] = low(four.y), to[3] = high(four.y);
    to[4] = low(four.z), to[5] = high(four.z), to[6] = low(four.w), to[7] = high(four.w);
}

// Adds N values over the lanes of a warp: while there are several, a lane gives half of them away at each step, so that
// the sums end up spread over the lanes.
template <int N, int STEP>
struct Spread {
    static __device__ __forceinline__ void over(float* sum, unsigned lane) {
        bool is_upper = lane & STEP;
#pragma unroll
        for (int i = 0; i < N / 2; ++i) {
            float give = is_upper ? sum[i] : sum[i + N / 2], keep = is_upper ? sum[i + N / 2] : sum[i];
            sum[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, STEP);
        }
        Spread<N / 2, STEP / 2>::over(sum, lane);
    }
};

template <int STEP>
struct Spread<1, STEP> {
    static __device__ __forceinline__ void over(float* sum, unsigned lane) {
        sum[0] += __shfl_xor_sync(0xFFFFFFFFu, sum[0], STEP);
        Spread<1, STEP / 2>::over(sum, lane);
    }
};

template <>
struct Spread<1, 0> {
    static __device__ __forceinline__ void over(float*, unsigned) {}
};

extern "C" __global__ void __launch_bounds__(256, 2)
    decode_gemv(const uint4* __restrict__ w, const uint4* __restrict__ x, unsigned short* __restrict__ out, unsigned m,
                unsigned n_rows, unsigned w_rows) {
    // Blocks that share weight rows run side by side, so that DRAM gives each weight once.
    unsigned n_tiles = m / TILE, lane = threadIdx.x % 32;
    unsigned row = (blockIdx.x / n_tiles * 8 + threadIdx.x / 32) * ROWS, first_j = blockIdx.x % n_tiles * TILE;
    const uint4* from_w = w + (unsigned long long)(row % w_rows) * (N_INNER / 8) + lane;
    const uint4* from_x = x + (unsigned long long)first_j * (N_INNER / 8) + lane;
    float sum[ROWS * TILE] = {};
    uint4 pieces[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) pieces[r] = __ldcg(from_w + r * (N_INNER / 8));
#pragma unroll 1
    for (unsigned k = 0; k < N_INNER / 8; k += 32) {
        float weights[ROWS][8];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) widen(pieces[r], weights[r]);
        // The next weights are on their way while these are used; past the end the last ones come again.
        unsigned next = k + 32 < N_INNER / 8 ? k + 32 : k;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) pieces[r] = __ldcg(from_w + r * (N_INNER / 8) + next);
#pragma unroll
        for (int j = 0; j < TILE; ++j) {
            float input[8];
            widen(__ldg(from_x + j * (N_INNER / 8) + k), input);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
#pragma unroll
                for (int i = 0; i < 8; ++i) sum[r * TILE + j] = fmaf(weights[r][i], input[i], sum[r * TILE + j]);
            }
        }
    }
    Spread<ROWS * TILE, 16>::over(sum, lane);
    // 32 lanes hold the sums in order; where there are fewer sums, neighbours hold the same.
    const unsigned shared = 32 / (ROWS * TILE);
    if (lane % shared == 0) {
        unsigned at = lane / shared;
        out[(unsigned long long)(first_j + at % TILE) * n_rows + row + at / TILE] = to_bf16(sum[0]);
    }
}
