// Values quantised to BITS bits in groups of GROUP, each group with a scale s of its own: s = largest magnitude / LIMIT,
// code = x / s rounded, ties to even. All of it in double precision, so that codes and scales are bit for bit those of the
// processor. Every error is held against s / 2; the block counts those beyond, adds their squares and keeps the largest.
//
// A thread has 16 neighbours; the threads of a group find its largest by exchange in shared memory.

#define LIMIT ((1 << (BITS - 1)) - 1)
#define TILES 16

__device__ __forceinline__ unsigned mix32(unsigned x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return x;
}

// Nearly normal: four 16-bit numbers around zero, in steps of 2^-16. One value in EVERY, a power of two, is an outlier.
__device__ __forceinline__ double value(unsigned word) {
    unsigned a = mix32(word ^ 0x9E3779B9u), b = mix32(word ^ 0x85EBCA6Bu);
    int sum = (int)((a & 0xFFFFu) + (a >> 16) + (b & 0xFFFFu) + (b >> 16)) - 131070;
    bool is_outlier = EVERY > 0 && (mix32(word ^ 0xC2B2AE35u) & (EVERY - 1u)) == 0;
    return is_outlier ? (sum < 0 ? -(double)OUTLIER : (double)OUTLIER) : sum * (1.0 / 65536.0);
}

extern "C" __global__ void __launch_bounds__(256)
    quant_error(const uint4* __restrict__ input, uint4* __restrict__ codes, double* __restrict__ scales,
                unsigned long long* __restrict__ wrong, unsigned long long* __restrict__ noise,
                unsigned long long* __restrict__ most) {
    __shared__ double largest[256];
    __shared__ unsigned long long sums[3];
    if (threadIdx.x < 3) sums[threadIdx.x] = 0;
    double squares = 0, farthest = 0;
    unsigned n_wrong = 0;
    for (unsigned tile = 0; tile < TILES; ++tile) {
        unsigned long long first = ((unsigned long long)blockIdx.x * TILES + tile) * 256 + threadIdx.x;
        double x[16], peak = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            uint4 words = input[first * 4 + i];
            x[4 * i] = value(words.x), x[4 * i + 1] = value(words.y);
            x[4 * i + 2] = value(words.z), x[4 * i + 3] = value(words.w);
        }
#pragma unroll
        for (int i = 0; i < 16; ++i) peak = fmax(peak, fabs(x[i]));
        __syncthreads();
        largest[threadIdx.x] = peak;
        __syncthreads();
#pragma unroll
        for (unsigned apart = 1; apart < GROUP / 16; apart *= 2) {
            double other = largest[threadIdx.x ^ apart];
            __syncthreads();
            peak = fmax(peak, other);
            largest[threadIdx.x] = peak;
            __syncthreads();
        }
        double scale = peak / LIMIT, error = 0;
        unsigned packed[4] = {};
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            double steps = scale > 0 ? rint(x[i] / scale) : 0;
            steps = fmin(fmax(steps, (double)-LIMIT), (double)LIMIT);
            double off = fabs(fma(-steps, scale, x[i]));
            // The quotient was rounded once itself.
            n_wrong += off > scale * (0.5 * (1 + 0x1p-40));
            squares = fma(off, off, squares);
            error = fmax(error, off);
            packed[i / 4] |= ((unsigned)(int)steps & 0xFFu) << (i % 4 * 8);
        }
        if (scale > 0) farthest = fmax(farthest, error / scale);
        codes[first] = make_uint4(packed[0], packed[1], packed[2], packed[3]);
        if (threadIdx.x % (GROUP / 16) == 0) scales[first / (GROUP / 16)] = scale;
    }
    __syncthreads();
    atomicAdd(&sums[0], (unsigned long long)n_wrong);
    atomicAdd(&sums[1], (unsigned long long)(squares * 0x1p40));
    atomicMax(&sums[2], (unsigned long long)(farthest * 0x1p32));
    __syncthreads();
    if (threadIdx.x == 0) {
        wrong[blockIdx.x] = sums[0];
        noise[blockIdx.x] = sums[1];
        most[blockIdx.x] = sums[2];
    }
}
