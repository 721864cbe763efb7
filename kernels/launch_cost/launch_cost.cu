// Kernels whose length is known: some that only wait, and one operation of a chain over floats, four a thread.

#define A 0.75f
#define B 0.25f

// Waits for so many clocks. That it ran, and in its turn, is seen in the count.
extern "C" __global__ void wait(unsigned long long cycles, unsigned* count) {
    long long start = clock64();
    while ((unsigned long long)(clock64() - start) < cycles) {
    }
    if (threadIdx.x == 0) *count += 1;
}

__device__ __forceinline__ float begun(unsigned at) { return ((at * 2654435761u) >> 8) * (1.0f / 16777216.0f); }

extern "C" __global__ void start(float4* out) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = make_float4(begun(4 * at), begun(4 * at + 1), begun(4 * at + 2), begun(4 * at + 3));
}

extern "C" __global__ void chain(const float4* in, float4* out, unsigned turns) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = in[at];
    for (unsigned i = 0; i < turns; ++i) {
        x.x = fmaf(x.x, A, B);
        x.y = fmaf(x.y, A, B);
        x.z = fmaf(x.z, A, B);
        x.w = fmaf(x.w, A, B);
    }
    out[at] = x;
}
