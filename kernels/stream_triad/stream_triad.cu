// a = b + s * c on PER_THREAD elements of WIDTH bytes a thread, all of its loads before the first store.

#if WIDTH == 8
typedef double Vec;
__device__ Vec triad(Vec b, Vec c, double s) { return fma(s, c, b); }
#else
typedef double2 Vec;
__device__ Vec triad(Vec b, Vec c, double s) { return make_double2(fma(s, c.x, b.x), fma(s, c.y, b.y)); }
#endif

extern "C" __global__ void stream_triad(Vec* __restrict__ a, const Vec* __restrict__ b, const Vec* __restrict__ c,
                                        double s) {
    unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;
    Vec left[PER_THREAD], right[PER_THREAD];
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        left[k] = b[first + k * blockDim.x];
        right[k] = c[first + k * blockDim.x];
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        a[first + k * blockDim.x] = triad(left[k], right[k], s);
    }
}
