// One step over a batch: eight elementwise operations, a sum over each row, a small matrix product. The defects are
// arguments: whether the values lie 32 apart, whether the tile is padded, whether the eight are one launch; 32 or 16 bits
// are two sets of entries. Every number on the way is exact in 16 bits, so all variants give the same bits.

typedef unsigned long long u64;

constexpr int COLUMNS = 64;
constexpr int OUTPUTS = 16;
constexpr int ROWS = 32;      // of a tile
constexpr int EACH = 4;       // elements of a thread
constexpr int WIDEST = 66;    // of a padded row of the tile, in elements

__device__ float load(const float *from, u64 at) { return from[at]; }
__device__ void store(float *to, u64 at, float value) { to[at] = value; }

__device__ float load(const unsigned short *from, u64 at) {
    unsigned short half = from[at];
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

__device__ void store(unsigned short *to, u64 at, float value) {
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    to[at] = half;
}

// Where element `j` of `n` lies: in its place, or so that neighbours are 32 apart.
__device__ u64 place(u64 j, u64 n, u64 is_strided) {
    u64 columns = n / 32;
    return is_strided ? j % columns * 32 + j / columns : j;
}

// Twice and one more, then half and one less: a pair takes off a half.
__device__ float operation(float x, int k) { return k % 2 == 0 ? 2.0f * x + 1.0f : 0.5f * x - 1.0f; }

// Operation `k` on the elements from `first` on; the first reads the batch as it came.
template <class T> __device__ void one(const unsigned short *raw, T *x, u64 first, u64 n, u64 is_strided, int k) {
    for (int part = 0; part < EACH; ++part) {
        u64 j = first + (u64)blockIdx.x * blockDim.x * EACH + part * blockDim.x + threadIdx.x;
        u64 at = place(j, n, is_strided);
        float value = k == 0 ? (float)raw[j] : load(x, at);
        store(x, at, operation(value, k));
    }
}

// All eight in registers.
template <class T> __device__ void all(const unsigned short *raw, T *x, u64 n, u64 is_strided) {
    for (int part = 0; part < EACH; ++part) {
        u64 j = (u64)blockIdx.x * blockDim.x * EACH + part * blockDim.x + threadIdx.x;
        float value = (float)raw[j];
        for (int k = 0; k < 8; ++k) value = operation(value, k);
        store(x, place(j, n, is_strided), value);
    }
}

// A warp a row.
template <class T> __device__ void row_sum(const T *x, float *sums, u64 n, u64 is_strided) {
    u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    u64 j = row * COLUMNS + lane;
    float value = load(x, place(j, n, is_strided)) + load(x, place(j + 32, n, is_strided));
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (lane == 0) sums[row] = value;
}

// 32 rows a block. A lane walks along its own row of the tile: without padding all 32 lanes are in one bank.
template <class T>
__device__ void product(const T *x, const float *sums, float *out, u64 n, u64 is_strided, int pitch, T *tile, float *weight) {
    u64 base = (u64)blockIdx.x * ROWS * COLUMNS;
    for (int at = threadIdx.x; at < COLUMNS * OUTPUTS; at += blockDim.x) {
        weight[at] = (float)((at / OUTPUTS * 7 + at % OUTPUTS * 3) % 5 - 2);
    }
    for (int at = threadIdx.x; at < ROWS * COLUMNS; at += blockDim.x) {
        tile[at / COLUMNS * pitch + at % COLUMNS] = x[place(base + at, n, is_strided)];
    }
    __syncthreads();
    int lane = threadIdx.x % 32, pair = threadIdx.x / 32 * 2;
    float first = 0.0f, second = 0.0f;
    for (int column = 0; column < COLUMNS; ++column) {
        float value = load(tile, lane * pitch + column);
        first += value * weight[column * OUTPUTS + pair];
        second += value * weight[column * OUTPUTS + pair + 1];
    }
    u64 row = (u64)blockIdx.x * ROWS + lane;
    out[row * OUTPUTS + pair] = first + sums[row];
    out[row * OUTPUTS + pair + 1] = second + sums[row];
}

#define ENTRIES(NAME, T)                                                                                              \
    extern "C" __global__ void one_##NAME(const unsigned short *raw, T *x, u64 first, u64 n, u64 is_strided, u64 k) {   \
        one(raw, x, first, n, is_strided, (int)k);                                                                      \
    }                                                                                                                   \
    extern "C" __global__ void all_##NAME(const unsigned short *raw, T *x, u64 n, u64 is_strided) {                     \
        all(raw, x, n, is_strided);                                                                                     \
    }                                                                                                                   \
    extern "C" __global__ void sum_##NAME(const T *x, float *sums, u64 n, u64 is_strided) {                             \
        row_sum(x, sums, n, is_strided);                                                                                \
    }                                                                                                                   \
    extern "C" __global__ void product_##NAME(const T *x, const float *sums, float *out, u64 n, u64 is_strided,         \
                                              u64 pitch) {                                                              \
        __shared__ T tile[ROWS * WIDEST];                                                                               \
        __shared__ float weight[COLUMNS * OUTPUTS];                                                                     \
        product(x, sums, out, n, is_strided, (int)pitch, tile, weight);                                                 \
    }

ENTRIES(f32, float)
ENTRIES(f16, unsigned short)
