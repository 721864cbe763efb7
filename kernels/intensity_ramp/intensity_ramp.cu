// Reads a float, puts it through FMAS fused multiply-adds, writes it: 8 bytes and 2 * FMAS operations an element. A
// thread has PIECES * 4 elements, each a chain of its own, so that the adders never wait for each other.

extern "C" __global__ void intensity_ramp(const float4* __restrict__ input, float4* __restrict__ out, float a, float b) {
    unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x * PIECES + threadIdx.x;
    float value[PIECES * 4];
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece) {
        float4 read = input[first + piece * blockDim.x];
        value[piece * 4] = read.x;
        value[piece * 4 + 1] = read.y;
        value[piece * 4 + 2] = read.z;
        value[piece * 4 + 3] = read.w;
    }
#pragma unroll 32
    for (int turn = 0; turn < FMAS; ++turn) {
#pragma unroll
        for (int k = 0; k < PIECES * 4; ++k) {
            value[k] = fmaf(value[k], a, b);
        }
    }
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece) {
        out[first + piece * blockDim.x] =
            make_float4(value[piece * 4], value[piece * 4 + 1], value[piece * 4 + 2], value[piece * 4 + 3]);
    }
}
