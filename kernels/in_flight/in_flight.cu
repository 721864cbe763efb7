// Every thread keeps exactly UNROLL loads of WIDTH bytes in flight: the next ones start only when all of them are there,
// because the next address contains the sum of what was read, masked with a zero that the compiler cannot know.
// All threads of the launch are resident at once; together they walk the array front to back.

#if WIDTH == 4
typedef unsigned Vec;
__device__ unsigned fold(Vec v) { return v; }
#elif WIDTH == 8
typedef uint2 Vec;
__device__ unsigned fold(Vec v) { return v.x + v.y; }
#else
typedef uint4 Vec;
__device__ unsigned fold(Vec v) { return v.x + v.y + v.z + v.w; }
#endif

extern "C" __global__ void in_flight(const Vec* __restrict__ input, unsigned* __restrict__ out, unsigned n_rounds,
                                     unsigned zero) {
    unsigned n_threads = gridDim.x * blockDim.x;
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const Vec* place = input + thread;
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < n_rounds; ++round) {
        Vec value[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            value[k] = __ldcg(place + k * n_threads);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            sum += fold(value[k]);
        }
        place += UNROLL * n_threads + (sum & zero);
    }
    out[thread] = sum;
}
