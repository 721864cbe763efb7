// Copies PER_THREAD elements of WIDTH bytes a thread, all of its loads before the first store.

#if WIDTH == 4
typedef unsigned Vec;
#elif WIDTH == 8
typedef uint2 Vec;
#else
typedef uint4 Vec;
#endif

extern "C" __global__ void stream_copy(const Vec* __restrict__ input, Vec* __restrict__ out) {
    unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;
    Vec value[PER_THREAD];
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        value[k] = input[first + k * blockDim.x];
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        out[first + k * blockDim.x] = value[k];
    }
}
