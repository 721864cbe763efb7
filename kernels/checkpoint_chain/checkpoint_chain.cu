// Layers of a chain over floats, four a thread. A layer follows the logistic equation x' = x (1 - x) for some turns:
// x becomes x (1 + h - h x), a product and a multiply-add; its backward does these and two more for the slope.

#define H (1.0f / 8192.0f)
#define UNROLL 8

__device__ __forceinline__ unsigned long long place() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ float turn(float x) { return x * fmaf(x, -H, 1.0f + H); }

__device__ __forceinline__ float begun(unsigned at) { return ((at * 2654435761u) >> 8) * (1.0f / 16777216.0f); }

extern "C" __global__ void start(float4* out) {
    unsigned long long at = place();
    unsigned first = (unsigned)(4 * at);
    out[at] = make_float4(begun(first), begun(first + 1), begun(first + 2), begun(first + 3));
}

extern "C" __global__ void ones(float4* out) { out[place()] = make_float4(1.0f, 1.0f, 1.0f, 1.0f); }

extern "C" __global__ void copy(const float4* in, float4* out) { out[place()] = in[place()]; }

extern "C" __global__ void __launch_bounds__(256) forward(const float4* in, float4* out, unsigned turns) {
    unsigned long long at = place();
    float4 x = in[at];
#pragma unroll UNROLL
    for (unsigned i = 0; i < turns; ++i) {
        x.x = turn(x.x);
        x.y = turn(x.y);
        x.z = turn(x.z);
        x.w = turn(x.w);
    }
    out[at] = x;
}

__device__ __forceinline__ void back(float& x, float& slope) {
    slope *= fmaf(x, -2.0f * H, 1.0f + H);
    x = turn(x);
}

// The gradient goes back through one layer, in place.
extern "C" __global__ void __launch_bounds__(256) backward(const float4* in, float4* gradient, unsigned turns) {
    unsigned long long at = place();
    float4 x = in[at], g = gradient[at];
    float4 slope = make_float4(1.0f, 1.0f, 1.0f, 1.0f);
#pragma unroll UNROLL
    for (unsigned i = 0; i < turns; ++i) {
        back(x.x, slope.x);
        back(x.y, slope.y);
        back(x.z, slope.z);
        back(x.w, slope.w);
    }
    gradient[at] = make_float4(g.x * slope.x, g.y * slope.y, g.z * slope.z, g.w * slope.w);
}

// Counts the elements whose bits differ.
extern "C" __global__ void differ(const uint4* a, const uint4* b, unsigned* count) {
    uint4 x = a[place()], y = b[place()];
    unsigned n = (x.x != y.x) + (x.y != y.y) + (x.z != y.z) + (x.w != y.w);
    if (n) atomicAdd(count, n);
}
