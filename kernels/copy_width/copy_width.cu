// A copy in which every thread has one load of WIDTH bytes on its way: the store waits for it, and the next load for the store.
// All threads of the launch are resident at once; together they walk the array front to back.

#if WIDTH == 1
#define Vec unsigned char
#elif WIDTH == 2
#define Vec unsigned short
#elif WIDTH == 4
#define Vec unsigned
#elif WIDTH == 8
#define Vec uint2
#else
#define Vec uint4
#endif

extern "C" __global__ void copy_width(const Vec* __restrict__ input, Vec* __restrict__ out, unsigned long long n) {
    unsigned long long n_threads = (unsigned long long)gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += n_threads) {
        out[i] = input[i];
    }
}
