// The same attention twice, as plainly as possible, for the memory that it takes: [head][token][64] in bf16. A block is 16
// rows × 16 lanes; a lane makes one score of a row, then four numbers of its output. In three kernels each of the steps is one
// kernel and what lies between is a matrix in memory; in tiles all of them are in one loop. N is a multiple of 16.

#define D 64
#define SCALE 0.75f
#define NO_SCORE __int_as_float(0xFF800000)

typedef unsigned short Half;
typedef unsigned long long Index;

__device__ __forceinline__ float widened(Half half) { return __uint_as_float((unsigned)half << 16); }

__device__ __forceinline__ Half rounded(float value) {
    unsigned bits = __float_as_uint(value);
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

// 16 rows of 64, a column more than that so that rows start on different banks.
struct Tile {
    float at[16][D + 1];
};

__device__ __forceinline__ void fetch(Tile& to, const Half* from) {
    for (unsigned i = threadIdx.x; i < 16 * D; i += 256) to.at[i / D][i % D] = widened(from[i]);
}

__device__ __forceinline__ float dot(const Tile& q, const Tile& k) {
    unsigned row = threadIdx.x / 16, key = threadIdx.x % 16;
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < D; ++c) sum = fmaf(q.at[row][c], k.at[key][c], sum);
    return sum * SCALE;
}

// Adds 16 keys' values, weighed, to the lane's four numbers of its row.
__device__ __forceinline__ void weigh(float out[4], const float weights[16][17], const Tile& v) {
    unsigned row = threadIdx.x / 16, lane = threadIdx.x % 16;
#pragma unroll
    for (int key = 0; key < 16; ++key) {
#pragma unroll
        for (int c = 0; c < 4; ++c) out[c] = fmaf(weights[row][key], v.at[key][lane + 16 * c], out[c]);
    }
}

__device__ __forceinline__ void write_row(Half* out, const float sum[4], float factor) {
#pragma unroll
    for (int c = 0; c < 4; ++c) out[threadIdx.x / 16 * D + threadIdx.x % 16 + 16 * c] = rounded(sum[c] * factor);
}

// The largest, and the sum, over the 16 lanes of a row.
__device__ __forceinline__ float most_of_row(float value) {
#pragma unroll
    for (int step = 8; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFu, value, step));
    return value;
}

__device__ __forceinline__ float sum_of_row(float value) {
#pragma unroll
    for (int step = 8; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
    return value;
}

// Numbers from -1 to 1 in steps of 1/128, each of which bf16 holds.
extern "C" __global__ void fill(Half* out, unsigned n, unsigned seed) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) {
        unsigned word = (at + seed) * 2654435761u;
        word = (word ^ word >> 15) * 2246822519u;
        out[at] = rounded((float)((int)(word >> 24) - 128) * (1.0f / 128.0f));
    }
}

// ---- Three kernels.

extern "C" __global__ void scores(const Half* q, const Half* k, Half* to, unsigned n) {
    __shared__ Tile tile_q, tile_k;
    unsigned side = n / 16, head = blockIdx.x / (side * side), i = blockIdx.x / side % side, j = blockIdx.x % side;
    fetch(tile_q, q + ((Index)head * n + i * 16) * D);
    fetch(tile_k, k + ((Index)head * n + j * 16) * D);
    __syncthreads();
    to[((Index)head * n + i * 16 + threadIdx.x / 16) * n + j * 16 + threadIdx.x % 16] = rounded(dot(tile_q, tile_k));
}

extern "C" __global__ void softmax(Half* matrix, unsigned n) {
    Half* row = matrix + ((Index)blockIdx.x * 16 + threadIdx.x / 16) * n;
    float most = NO_SCORE, sum = 0.0f;
    for (unsigned j = threadIdx.x % 16; j < n; j += 16) most = fmaxf(most, widened(row[j]));
    most = most_of_row(most);
    for (unsigned j = threadIdx.x % 16; j < n; j += 16) sum += expf(widened(row[j]) - most);
    sum = sum_of_row(sum);
    for (unsigned j = threadIdx.x % 16; j < n; j += 16) row[j] = rounded(expf(widened(row[j]) - most) / sum);
}

extern "C" __global__ void product(const Half* matrix, const Half* v, Half* out, unsigned n) {
    __shared__ Tile tile_v;
    __shared__ float weights[16][17];
    Index first = (Index)blockIdx.x * 16;
    unsigned row = threadIdx.x / 16, lane = threadIdx.x % 16;
    float sum[4] = {};
    for (unsigned j = 0; j < n; j += 16) {
        weights[row][lane] = widened(matrix[(first + row) * n + j + lane]);
        fetch(tile_v, v + (first / n * n + j) * D);
        __syncthreads();
        weigh(sum, weights, tile_v);
        __syncthreads();
    }
    write_row(out + first * D, sum, 1.0f);
}

// ---- In tiles.

extern "C" __global__ void tiled(const Half* q, const Half* k, const Half* v, Half* out, float* lse, unsigned n) {
    __shared__ Tile tile_q, tile_k, tile_v;
    __shared__ float weights[16][17];
    Index first = (Index)blockIdx.x * 16, head = first / n * n;
    unsigned row = threadIdx.x / 16, lane = threadIdx.x % 16;
    float sum[4] = {}, most = NO_SCORE, total = 0.0f;
    fetch(tile_q, q + first * D);
    for (unsigned j = 0; j < n; j += 16) {
        fetch(tile_k, k + (head + j) * D);
        fetch(tile_v, v + (head + j) * D);
        __syncthreads();
        float score = dot(tile_q, tile_k), next = fmaxf(most, most_of_row(score));
        float shrink = expf(most - next), weight = expf(score - next);
        weights[row][lane] = weight;
        total = total * shrink + sum_of_row(weight);
        most = next;
#pragma unroll
        for (int c = 0; c < 4; ++c) sum[c] *= shrink;
        __syncwarp();
        weigh(sum, weights, tile_v);
        __syncthreads();
    }
    write_row(out + first * D, sum, 1.0f / total);
    if (lane == 0) lse[first + row] = most + logf(total);
}
