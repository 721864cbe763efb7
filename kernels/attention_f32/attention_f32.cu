// Attention in tiles, fp32, on the ordinary cores: out = softmax(scale · Q · K transposed) V. Q is [head][token][HEAD_DIM]; N is a multiple
// of 64. A block of 16 × 16 threads keeps 64 queries and walks over the keys, 32 at a time. A thread makes 4 × 2 scores, then
// 4 rows × 4 (or 8) columns of the output; the 16 threads of a row agree on its largest score by shuffles.

#define ROWS 64
#define KEYS 32
// Rows of a tile lie four floats further apart than they are long, so that neighbours start on different banks.
#define PITCH (HEAD_DIM + 4)
#define FOURS (HEAD_DIM / 64)
#define NO_SCORE __int_as_float(0xFF800000)

typedef unsigned long long Index;

__device__ __forceinline__ void fetch(float* to, const float* from, unsigned n_rows) {
    for (unsigned at = threadIdx.x; at < n_rows * (HEAD_DIM / 4); at += 256) {
        unsigned row = at / (HEAD_DIM / 4), piece = at % (HEAD_DIM / 4);
        *(float4*)(to + row * PITCH + piece * 4) = ((const float4*)from)[at];
    }
}

__device__ __forceinline__ float dot(float4 a, float4 b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

__device__ __forceinline__ void add(float4& sum, float weight, float4 value) {
    sum.x = fmaf(weight, value.x, sum.x);
    sum.y = fmaf(weight, value.y, sum.y);
    sum.z = fmaf(weight, value.z, sum.z);
    sum.w = fmaf(weight, value.w, sum.w);
}

__device__ __forceinline__ void scale4(float4& sum, float factor) {
    sum.x *= factor;
    sum.y *= factor;
    sum.z *= factor;
    sum.w *= factor;
}

// The largest, or the sum, over the 16 threads of a row.
__device__ __forceinline__ float over_row(float value, bool is_sum) {
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = is_sum ? value + other : fmaxf(value, other);
    }
    return value;
}

// Scores of the thread's rows and the keys `lane` and `lane + 16` of a tile.
__device__ __forceinline__ void score(float to[4][2], const float* q, const float* k, unsigned lane) {
#pragma unroll 4
    for (unsigned at = 0; at < HEAD_DIM; at += 4) {
        float4 key[2] = {*(const float4*)(k + lane * PITCH + at), *(const float4*)(k + (lane + 16) * PITCH + at)};
#pragma unroll
        for (int row = 0; row < 4; ++row) {
            float4 query = *(const float4*)(q + row * PITCH + at);
            to[row][0] = dot(query, key[0], to[row][0]);
            to[row][1] = dot(query, key[1], to[row][1]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    forward(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* out, float* lse,
            unsigned n, unsigned group, float scale) {
    extern __shared__ __align__(16) float shared[];
    float *tile_q = shared, *tile_k = tile_q + ROWS * PITCH, *tile_v = tile_k + KEYS * PITCH;
    float* weights = tile_v + KEYS * PITCH;
    unsigned n_blocks = n / ROWS, head = blockIdx.x / n_blocks, block = blockIdx.x % n_blocks;
    // With a causal mask long blocks come first.
    unsigned first = (CAUSAL ? n_blocks - 1 - block : block) * ROWS, row = threadIdx.x / 16 * 4, lane = threadIdx.x % 16;
    const float* keys = k + (Index)(head / group) * n * HEAD_DIM;
    const float* values = v + (Index)(head / group) * n * HEAD_DIM;
    float4 sum[4][FOURS] = {};
    float most[4] = {NO_SCORE, NO_SCORE, NO_SCORE, NO_SCORE}, total[4] = {};
    fetch(tile_q, q + ((Index)head * n + first) * HEAD_DIM, ROWS);
    unsigned end = CAUSAL ? first + ROWS : n;
#pragma unroll 1
    for (unsigned from = 0; from < end; from += KEYS) {
        __syncthreads();
        fetch(tile_k, keys + (Index)from * HEAD_DIM, KEYS);
        fetch(tile_v, values + (Index)from * HEAD_DIM, KEYS);
        __syncthreads();
        float scores[4][2] = {};
        score(scores, tile_q + row * PITCH, tile_k, lane);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                bool is_hidden = CAUSAL && from + lane + 16 * j > first + row + i;
                scores[i][j] = is_hidden ? NO_SCORE : scores[i][j] * scale;
            }
            float next = fmaxf(most[i], over_row(fmaxf(scores[i][0], scores[i][1]), false));
            float shrink = exp2f((most[i] - next) * 1.44269504f), both = 0.0f;
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                float weight = exp2f((scores[i][j] - next) * 1.44269504f);
                weights[(row + i) * (KEYS + 4) + lane + 16 * j] = weight;
                both += weight;
            }
            total[i] = total[i] * shrink + over_row(both, true);
            most[i] = next;
#pragma unroll
            for (int c = 0; c < FOURS; ++c) scale4(sum[i][c], shrink);
        }
        // The 16 threads of a row are in one warp.
        __syncwarp();
#pragma unroll 2
        for (unsigned key = 0; key < KEYS; key += 4) {
            __align__(16) float four[4][4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                *(float4*)four[i] = *(const float4*)(weights + (row + i) * (KEYS + 4) + key);
            }
#pragma unroll
            for (int j = 0; j < 4; ++j) {
#pragma unroll
                for (int c = 0; c < FOURS; ++c) {
                    float4 value = *(const float4*)(tile_v + (key + j) * PITCH + lane * 4 + c * 64);
#pragma unroll
                    for (int i = 0; i < 4; ++i) add(sum[i][c], four[i][j], value);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        Index at = (Index)head * n + first + row + i;
#pragma unroll
        for (int c = 0; c < FOURS; ++c) {
            scale4(sum[i][c], 1.0f / total[i]);
            *(float4*)(out + at * HEAD_DIM + lane * 4 + c * 64) = sum[i][c];
        }
        if (lane == 0) lse[at] = most[i] + logf(total[i]);
    }
}
