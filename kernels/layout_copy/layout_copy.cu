// A matrix of 4-byte words copied, and transposed in ways that come nearer and nearer to the copy: from row after row of
// n_columns to column after column of n_rows. Blocks of 256 threads.

#if FORM == 0
// 16 bytes a thread, a quarter of them a block: the pace to reach.
extern "C" __global__ void layout_0(const uint4* __restrict__ input, uint4* __restrict__ out, unsigned n_rows, unsigned n_columns) {
    unsigned long long first = (unsigned long long)blockIdx.x * 1024 + threadIdx.x;
    uint4 word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        word[i] = input[first + 256 * i];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        out[first + 256 * i] = word[i];
    }
}

#elif FORM == 1
// Straight: reads rows, writes columns.
extern "C" __global__ void layout_1(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_rows, unsigned n_columns) {
    unsigned x = threadIdx.x % 32, y = threadIdx.x / 32, per_row = n_columns / 32;
    unsigned row = blockIdx.x / per_row * 32, column = blockIdx.x % per_row * 32;
#pragma unroll
    for (int step = 0; step < 32; step += 8) {
        out[(unsigned long long)(column + x) * n_rows + row + y + step] =
            input[(unsigned long long)(row + y + step) * n_columns + column + x];
    }
}

#elif FORM == 2
// Words one by one through a tile of 32 × 32 with a column to spare.
extern "C" __global__ void layout_2(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n_rows,
                                    unsigned n_columns) {
    __shared__ unsigned tile[32 * 33];
    unsigned x = threadIdx.x % 32, y = threadIdx.x / 32, per_row = n_columns / 32;
    unsigned row = blockIdx.x / per_row * 32, column = blockIdx.x % per_row * 32;
#pragma unroll
    for (int step = 0; step < 32; step += 8) {
        tile[(y + step) * 33 + x] = input[(unsigned long long)(row + y + step) * n_columns + column + x];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 32; step += 8) {
        out[(unsigned long long)(column + y + step) * n_rows + row + x] = tile[x * 33 + y + step];
    }
}

#else
#if FORM == 3
#define WIDE layout_3
#elif FORM == 4
#define WIDE layout_4
#else
#define WIDE layout_5
#endif
#define RUNS (ROWS * COLUMNS / 1024)

// 16 bytes at a time on both sides. The tile lies transposed in shared memory; runs of four rows are moved by the column they are
// in (`swizzled`), so that neither the four stores of a thread nor its one load of 16 bytes meet in a bank. A warp takes 4 rows × 32 columns.
// Blocks go GROUP rows of tiles at a time, so that what is read and what is written at one time both stay together.
__device__ __forceinline__ unsigned swizzled(unsigned column, unsigned run) {
    return column * ROWS + ((run ^ column / 4 % 8) * 4);
}

extern "C" __global__ void __launch_bounds__(256) WIDE(const unsigned* __restrict__ input, unsigned* __restrict__ out,
                                                                unsigned n_rows, unsigned n_columns) {
    __shared__ __align__(16) unsigned tile[ROWS * COLUMNS];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, band = n_columns / COLUMNS * GROUP;
    unsigned top = (blockIdx.x / band * GROUP + blockIdx.x % GROUP) * ROWS, left = blockIdx.x % band / GROUP * COLUMNS;
    uint4 word[RUNS];
#pragma unroll
    for (int i = 0; i < RUNS; ++i) {
        unsigned part = i * 8 + warp, row = part / (COLUMNS / 32) * 4 + lane / 8, column = part % (COLUMNS / 32) * 32 + lane % 8 * 4;
        word[i] = *(const uint4*)(input + (unsigned long long)(top + row) * n_columns + left + column);
    }
#pragma unroll
    for (int i = 0; i < RUNS; ++i) {
        unsigned part = i * 8 + warp, row = part / (COLUMNS / 32) * 4 + lane / 8, column = part % (COLUMNS / 32) * 32 + lane % 8 * 4;
        tile[swizzled(column, row / 4) + row % 4] = word[i].x;
        tile[swizzled(column + 1, row / 4) + row % 4] = word[i].y;
        tile[swizzled(column + 2, row / 4) + row % 4] = word[i].z;
        tile[swizzled(column + 3, row / 4) + row % 4] = word[i].w;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RUNS; ++i) {
        unsigned part = i * 8 + warp, column = part / (ROWS / 32) * 4 + lane / 8, run = part % (ROWS / 32) * 8 + lane % 8;
        uint4 moved = *(const uint4*)(tile + swizzled(column, run));
        *(uint4*)(out + (unsigned long long)(left + column) * n_rows + top + run * 4) = moved;
    }
}
#endif
