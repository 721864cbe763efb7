// A thread makes four results, each from its own rows.
extern "C" __global__ void product(const float* w, const float* x, float* out, unsigned n) {
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    for (unsigned r = 0; r < 4; ++r) {
        unsigned j = blockIdx.y * 32 + threadIdx.y + r * 8;
        float sum = 0.0f;
        for (unsigned k = 0; k < n; ++k) {
            sum += w[i * n + k] * x[j * n + k];
        }
        out[j * n + i] = sum;
    }
}
