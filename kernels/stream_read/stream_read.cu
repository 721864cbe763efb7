// Reads PER_THREAD elements of WIDTH bytes a thread and sums their words; one word a warp is written.
// A warp owns 32 * PER_THREAD neighbouring elements; access k of lane l is element k * 32 + l of them.

#if WIDTH == 4
typedef unsigned Vec;
#elif WIDTH == 8
typedef uint2 Vec;
#else
typedef uint4 Vec;
#endif

#if WIDTH == 4
__device__ unsigned total(Vec v) { return v; }
#elif WIDTH == 8
__device__ unsigned total(Vec v) { return v.x + v.y; }
#else
__device__ unsigned total(Vec v) { return v.x + v.y + (v.z + v.w); }
#endif

extern "C" __global__ void stream_read(const Vec* __restrict__ input, unsigned* __restrict__ out) {
    unsigned long long warp = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;
    const Vec* place = input + warp * 32 * PER_THREAD + lane;
    Vec value[PER_THREAD];
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        value[k] = place[k * 32];
    }
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        sum += total(value[k]);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    }
    if (lane == 0) {
        out[warp] = sum;
    }
}
