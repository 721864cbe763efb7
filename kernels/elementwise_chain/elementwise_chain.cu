// x = a x + b, `turns` times over, four floats a thread. One launch may hold one operation of a chain or all of it; between
// launches the numbers lie in memory, within one they stay in registers.
extern "C" __global__ void chain(const float4* in, float4* out, unsigned turns, float a, float b) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = in[at];
    for (unsigned i = 0; i < turns; ++i) {
        x.x = fmaf(x.x, a, b);
        x.y = fmaf(x.y, a, b);
        x.z = fmaf(x.z, a, b);
        x.w = fmaf(x.w, a, b);
    }
    out[at] = x;
}
