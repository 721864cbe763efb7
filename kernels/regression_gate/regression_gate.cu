// Multiply-adds on one number a thread. The blind build does `more` of them on the side, whose result only a value that
// never comes would use: same numbers out, some more time.

extern "C" __global__ void gate(const float *in, float *out, unsigned long long turns, unsigned long long more) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[at];
    for (unsigned long long turn = 0; turn < turns; ++turn) x = x * 0.999f + 0.0005f;
    float side = x;
    for (unsigned long long turn = 0; turn < more; ++turn) side = side * 0.999f + 0.0005f;
    out[at] = side < -1.0e30f ? side : x;
}

extern "C" __global__ void gate_input(float *in) {
    unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    in[at] = (at * 2654435761ull % 1024) / 1024.0f;
}
