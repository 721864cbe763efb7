// C = A · B in fp32 without tensor cores, N × N, row after row. One entry a step of the ladder: what each step adds is the whole
// difference to the one before. N is a multiple of 128.

// Every result by itself: one thread walks a row of A and a column of B. What neighbours read again, L1 and L2 may still have.
extern "C" __global__ void __launch_bounds__(1024) gemm_0(const float* a, const float* b, float* c, unsigned n) {
    unsigned row = blockIdx.y * 32 + threadIdx.x / 32, column = blockIdx.x * 32 + threadIdx.x % 32;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; ++k) {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

// A block copies a square of A and one of B to shared memory, then all its threads read them there: TILE times fewer loads.
extern "C" __global__ void __launch_bounds__(TILE* TILE) gemm_1(const float* a, const float* b, float* c, unsigned n) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; k += TILE) {
        a_tile[y][x] = a[row * n + k + x];
        b_tile[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// A thread makes EACH × EACH results in registers: 2 · EACH words from shared memory now feed EACH² multiply-adds. 256 threads make
// a tile of SIDE × SIDE in slices of 16 k.
#define SIDE (16 * EACH)
extern "C" __global__ void __launch_bounds__(256) gemm_2(const float* a, const float* b, float* c, unsigned n) {
    __shared__ float a_slice[SIDE][17];
    __shared__ float b_slice[16][SIDE];
    unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    unsigned first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    float sum[EACH][EACH] = {};
    for (unsigned k = 0; k < n; k += 16) {
        for (unsigned i = 0; i < EACH; ++i) {
            a_slice[y + i * 16][x] = a[(first_row + y + i * 16) * n + k + x];
            unsigned at = threadIdx.x + i * 256;
            b_slice[at / SIDE][at % SIDE] = b[(k + at / SIDE) * n + first_column + at % SIDE];
        }
        __syncthreads();
        for (unsigned q = 0; q < 16; ++q) {
            float of_a[EACH], of_b[EACH];
#pragma unroll
            for (unsigned i = 0; i < EACH; ++i) {
                of_a[i] = a_slice[y + i * 16][q];
                of_b[i] = b_slice[q][x + i * 16];
            }
#pragma unroll
            for (unsigned i = 0; i < EACH; ++i) {
#pragma unroll
                for (unsigned j = 0; j < EACH; ++j) {
                    sum[i][j] += of_a[i] * of_b[j];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < EACH; ++i) {
#pragma unroll
        for (unsigned j = 0; j < EACH; ++j) {
            c[(first_row + y + i * 16) * n + first_column + x + j * 16] = sum[i][j];
        }
    }
}

#if __CUDA_ARCH__ >= 800
// Through L1 (`.ca`). Past it (`.cg`), L2 sends half as much again for the 64 bytes of a row of A, by its own counter.
__device__ __forceinline__ void copy16(const void* to, const float* from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
#endif

// Words travel by fours, and the next slice comes by cp.async, past the registers, while this one is multiplied: two buffers, one
// barrier a slice. The tile is 128 × 128, 8 × 8 a thread. Rows of A keep 4 words of room: sixteen bytes each, no bank conflict.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_3(const float* a, const float* b, float* c, unsigned n) {
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(16) float a_slice[2][128][20];
    __shared__ __align__(16) float b_slice[2][16][128];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned x = (warp % 2 * 8 + lane % 8) * 4, y = warp / 2 * 4 + lane / 8;
    a += (unsigned long long)blockIdx.y * 128 * n;
    b += blockIdx.x * 128;
    auto start = [&](unsigned k) {
#pragma unroll
        for (unsigned at = threadIdx.x; at < 512; at += 256) {
            copy16(&a_slice[k / 16 % 2][at / 4][at % 4 * 4], a + at / 4 * n + k + at % 4 * 4);
            copy16(&b_slice[k / 16 % 2][at / 32][at % 32 * 4], b + (k + at / 32) * n + at % 32 * 4);
        }
    };
    float sum[8][8] = {};
    start(0);
    for (unsigned k = 0; k < n; k += 16) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        if (k + 16 < n) {
            start(k + 16);
        }
#pragma unroll
        for (unsigned q = 0; q < 16; q += 4) {
            float4 of_a[8];
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) {
                of_a[i] = *(const float4*)&a_slice[k / 16 % 2][y + i * 16][q];
            }
#pragma unroll
            for (unsigned step = 0; step < 4; ++step) {
                float4 low = *(const float4*)&b_slice[k / 16 % 2][q + step][x], high = *(const float4*)&b_slice[k / 16 % 2][q + step][x + 64];
                float of_b[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
                for (unsigned i = 0; i < 8; ++i) {
                    float value = step == 0 ? of_a[i].x : step == 1 ? of_a[i].y : step == 2 ? of_a[i].z : of_a[i].w;
#pragma unroll
                    for (unsigned j = 0; j < 8; ++j) {
                        sum[i][j] += value * of_b[j];
                    }
                }
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        float4* to = (float4*)(c + ((unsigned long long)blockIdx.y * 128 + y + i * 16) * n + blockIdx.x * 128 + x);
        to[0] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        to[16] = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
    }
#endif
}
