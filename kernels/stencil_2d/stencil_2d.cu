// Every output is the sum of the (2·RADIUS + 1)² words around it. The input has a rim of RADIUS words on each side. A block of
// 256 threads makes 32 × 32 outputs, four a thread, from device memory directly or from a tile in shared memory that it fills first.

#define EDGE 32
#define WINDOW (2 * RADIUS + 1)
#define SIDE (EDGE + 2 * RADIUS)

extern "C" __global__ void stencil_0(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    unsigned x = blockIdx.x * EDGE + threadIdx.x, width = n + 2 * RADIUS;
    for (unsigned y = blockIdx.y * EDGE + threadIdx.y; y < (blockIdx.y + 1) * EDGE; y += 8) {
        unsigned sum = 0;
#pragma unroll 1
        for (int dy = 0; dy < WINDOW; ++dy) {
            const unsigned* row = input + (unsigned long long)(y + dy) * width + x;
#pragma unroll
            for (int dx = 0; dx < WINDOW; ++dx) {
                sum += row[dx];
            }
        }
        out[(unsigned long long)y * n + x] = sum;
    }
}

extern "C" __global__ void stencil_1(const unsigned* __restrict__ input, unsigned* __restrict__ out, unsigned n) {
    __shared__ unsigned tile[SIDE * SIDE];
    unsigned width = n + 2 * RADIUS, thread = threadIdx.y * 32 + threadIdx.x;
    unsigned long long first = (unsigned long long)blockIdx.y * EDGE * width + blockIdx.x * EDGE;
    for (unsigned i = thread; i < SIDE * SIDE; i += 256) {
        tile[i] = input[first + (unsigned long long)(i / SIDE) * width + i % SIDE];
    }
    __syncthreads();
    for (unsigned y = threadIdx.y; y < EDGE; y += 8) {
        unsigned sum = 0;
#pragma unroll 1
        for (int dy = 0; dy < WINDOW; ++dy) {
            const unsigned* row = tile + (y + dy) * SIDE + threadIdx.x;
#pragma unroll
            for (int dx = 0; dx < WINDOW; ++dx) {
                sum += row[dx];
            }
        }
        out[(unsigned long long)(blockIdx.y * EDGE + y) * n + blockIdx.x * EDGE + threadIdx.x] = sum;
    }
}
