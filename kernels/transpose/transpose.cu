// Four transposes of an n by n matrix of 4-byte words. A block of 32 x 8 threads turns one 32 x 32 tile; each warp takes
// a row at a time, lane = column. Blocks walk the source row by row.

#define ROWS 8

// Straight: reads a row, writes a column.
extern "C" __global__ void transpose_0(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    unsigned long long col = blockIdx.x * 32 + threadIdx.x;
    unsigned row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int step = 0; step < 32; step += ROWS) {
        out[col * n + row + step] = input[(unsigned long long)(row + step) * n + col];
    }
}

// Through a tile in shared memory, PITCH words a row, columns combined with the row where SWIZZLE is 1.
template <int PITCH, int SWIZZLE>
__device__ void by_tile(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    __shared__ unsigned tile[32 * PITCH];
    unsigned col = blockIdx.x * 32 + threadIdx.x;
    unsigned row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int step = 0; step < 32; step += ROWS) {
        unsigned r = threadIdx.y + step, c = threadIdx.x;
        tile[r * PITCH + (SWIZZLE ? c ^ r : c)] = input[(unsigned long long)(row + step) * n + col];
    }
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int step = 0; step < 32; step += ROWS) {
        unsigned r = threadIdx.x, c = threadIdx.y + step;
        out[(unsigned long long)(row + step) * n + col] = tile[r * PITCH + (SWIZZLE ? c ^ r : c)];
    }
}

extern "C" __global__ void transpose_1(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    by_tile<32, 0>(input, out, n);
}

extern "C" __global__ void transpose_2(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    by_tile<33, 0>(input, out, n);
}

extern "C" __global__ void transpose_3(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    by_tile<32, 1>(input, out, n);
}
