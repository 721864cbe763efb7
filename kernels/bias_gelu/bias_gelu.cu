// y = gelu(x w + b) + r over rows of COLUMNS floats, four a thread: w and b have one number a column. Four launches, two, or one;
// what lies between launches goes through memory.

#define PLACE ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x)
#define COLUMN (PLACE % (COLUMNS / 4))

// The form with tanh, as in GPT-2.
__device__ __forceinline__ float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__device__ __forceinline__ float4 gelu4(float4 x) { return make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)); }
__device__ __forceinline__ float4 times(float4 a, float4 b) {
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Four launches: the first multiplies,
extern "C" __global__ void first_0(const float4* x, const float4* w, const float4* b, const float4* r, float4* out) {
    out[PLACE] = times(x[PLACE], w[COLUMN]);
}
extern "C" __global__ void add_bias(float4* out, const float4* b) { out[PLACE] = plus(out[PLACE], b[COLUMN]); }
extern "C" __global__ void apply_gelu(float4* out) { out[PLACE] = gelu4(out[PLACE]); }
extern "C" __global__ void add_rest(float4* out, const float4* r) { out[PLACE] = plus(out[PLACE], r[PLACE]); }

// Two launches.
extern "C" __global__ void first_1(const float4* x, const float4* w, const float4* b, const float4* r, float4* out) {
    out[PLACE] = plus(times(x[PLACE], w[COLUMN]), b[COLUMN]);
}
extern "C" __global__ void gelu_and_rest(float4* out, const float4* r) {
    out[PLACE] = plus(gelu4(out[PLACE]), r[PLACE]);
}

// One launch.
extern "C" __global__ void first_2(const float4* x, const float4* w, const float4* b, const float4* r, float4* out) {
    float4 y = gelu4(plus(times(x[PLACE], w[COLUMN]), b[COLUMN]));
    out[PLACE] = plus(y, r[PLACE]);
}
