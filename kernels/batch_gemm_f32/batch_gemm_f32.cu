// out[j][i] = Σ_k x[j][k] * w[i][k] in fp32, without tensor cores, on any card. The weights of all matrices lie one under
// the other, n_rows rows of N_INNER; j < m is the batch, m a multiple of TILE.

#if TILE <= 8
// Few batch rows: a warp makes ROWS weight rows, its lanes share the sums over k. Each weight is read once, straight from
// memory; what is read of x is in L1.
#define ROWS 4
#define DEPTH 2
extern "C" __global__ void __launch_bounds__(256)
    batch_gemm_f32(const float* __restrict__ w, const float* __restrict__ x, float* __restrict__ out, unsigned n_rows,
                   unsigned n_tiles_j) {
    unsigned lane = threadIdx.x % 32;
    unsigned row = (blockIdx.x * 8 + threadIdx.x / 32) * ROWS;
    const float4* weights = (const float4*)(w + (unsigned long long)row * N_INNER) + lane;
    const float4* batch = (const float4*)x + lane;
    float sum[ROWS][TILE] = {};
#pragma unroll 1
    for (unsigned k = 0; k < N_INNER / 4; k += 32 * DEPTH) {
        float4 value[DEPTH][ROWS];
#pragma unroll
        for (int depth = 0; depth < DEPTH; ++depth) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                value[depth][i] = __ldcs(weights + i * (N_INNER / 4) + k + depth * 32);
            }
        }
#pragma unroll
        for (int depth = 0; depth < DEPTH; ++depth) {
#pragma unroll
            for (int j = 0; j < TILE; ++j) {
                float4 other = __ldg(batch + j * (N_INNER / 4) + k + depth * 32);
#pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    float4 mine = value[depth][i];
                    sum[i][j] = fmaf(mine.x, other.x, fmaf(mine.y, other.y, fmaf(mine.z, other.z, fmaf(mine.w, other.w, sum[i][j]))));
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < TILE; ++j) {
#pragma unroll
            for (int step = 16; step > 0; step /= 2) {
                sum[i][j] += __shfl_xor_sync(0xFFFFFFFFu, sum[i][j], step);
            }
            if (lane == 0) {
                out[(unsigned long long)j * n_rows + row + i] = sum[i][j];
            }
        }
    }
}
#else
// Many: a block makes 128 weight rows × TILE batch rows in slices of 16 k through shared memory, a thread 8 × PER_J of
// them in registers. The next slice is on its way while this one is multiplied.
#define ROWS 128
#define SLICE 16
#define THREADS (TILE < 64 ? TILE * 4 : 256)
#define PER_J (TILE * 16 / THREADS)
#define W_LOADS (ROWS * SLICE / 4 / THREADS)
#define X_PIECES (TILE * SLICE / 4)
#define X_LOADS (X_PIECES / THREADS)
extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)
    batch_gemm_f32(const float* __restrict__ w, const float* __restrict__ x, float* __restrict__ out, unsigned n_rows,
                   unsigned n_tiles_j) {
    __shared__ float4 w_slice[2][SLICE][ROWS / 4 + 1];
    __shared__ float x_slice[2][SLICE][TILE + 4];
    unsigned first_i = blockIdx.x / n_tiles_j * ROWS, first_j = blockIdx.x % n_tiles_j * TILE;
    unsigned at_i = threadIdx.x % 16, at_j = threadIdx.x / 16;
    const float* weights = w + (unsigned long long)first_i * N_INNER;
    const float* batch = x + (unsigned long long)first_j * N_INNER;
    float4 w_next[W_LOADS], x_next[X_LOADS];
    float sum[8][PER_J] = {};
    auto fetch = [&](unsigned slice) {
#pragma unroll
        for (int load = 0; load < W_LOADS; ++load) {
            unsigned at = threadIdx.x + load * THREADS;
            w_next[load] = *(const float4*)(weights + (unsigned long long)(at / 4) * N_INNER + slice * SLICE + at % 4 * 4);
        }
#pragma unroll
        for (int load = 0; load < X_LOADS; ++load) {
            unsigned at = threadIdx.x + load * THREADS;
            x_next[load] = *(const float4*)(batch + (unsigned long long)(at / 4) * N_INNER + slice * SLICE + at % 4 * 4);
        }
    };
    auto keep = [&](unsigned half) {
#pragma unroll
        for (int load = 0; load < W_LOADS; ++load) {
            unsigned at = threadIdx.x + load * THREADS;
            float* to = (float*)&w_slice[half][at % 4 * 4][0] + at / 4;
            const unsigned step = (ROWS / 4 + 1) * 4;
            to[0] = w_next[load].x;
            to[step] = w_next[load].y;
            to[2 * step] = w_next[load].z;
            to[3 * step] = w_next[load].w;
        }
#pragma unroll
        for (int load = 0; load < X_LOADS; ++load) {
            unsigned at = threadIdx.x + load * THREADS;
            float* to = &x_slice[half][at % 4 * 4][at / 4];
            to[0] = x_next[load].x;
            to[TILE + 4] = x_next[load].y;
            to[2 * (TILE + 4)] = x_next[load].z;
            to[3 * (TILE + 4)] = x_next[load].w;
        }
    };
    fetch(0);
    keep(0);
    __syncthreads();
#pragma unroll 1
    for (unsigned slice = 0; slice < N_INNER / SLICE; ++slice) {
        bool has_next = slice + 1 < N_INNER / SLICE;
        if (has_next) {
            fetch(slice + 1);
        }
        unsigned half = slice % 2;
#pragma unroll
        for (int k = 0; k < SLICE; ++k) {
            float4 low = w_slice[half][k][at_i], high = w_slice[half][k][at_i + 16];
            float mine[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (int j = 0; j < PER_J; ++j) {
                float other = x_slice[half][k][at_j * PER_J + j];
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    sum[i][j] = fmaf(mine[i], other, sum[i][j]);
                }
            }
        }
        if (has_next) {
            keep(1 - half);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < PER_J; ++j) {
        float4* to = (float4*)(out + (unsigned long long)(first_j + at_j * PER_J + j) * n_rows + first_i);
        to[at_i] = make_float4(sum[0][j], sum[1][j], sum[2][j], sum[3][j]);
        to[at_i + 16] = make_float4(sum[4][j], sum[5][j], sum[6][j], sum[7][j]);
    }
}
#endif
