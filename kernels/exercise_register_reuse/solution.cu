// A block makes 32 x 32 results, a thread four of one column; slices of 32 k pass through shared memory.
extern "C" __global__ void product(const float* w, const float* x, float* out, unsigned n) {
    __shared__ float ws[32][33];
    __shared__ float xs[32][33];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned i0 = blockIdx.x * 32, j0 = blockIdx.y * 32;
    float sum[4] = {};
    for (unsigned k0 = 0; k0 < n; k0 += 32) {
        for (unsigned r = ty; r < 32; r += 8) {
            ws[r][tx] = w[(i0 + r) * n + k0 + tx];
            xs[r][tx] = x[(j0 + r) * n + k0 + tx];
        }
        __syncthreads();
        for (unsigned k = 0; k < 32; ++k) {
             float mine = ws[tx][k];
            for (unsigned r = 0; r < 4; ++r) {
                sum[r] += mine * xs[ty + r * 8][k];
            }
        }
        __syncthreads();
    }
    for (unsigned r = 0; r < 4; ++r) {
        out[(j0 + ty + r * 8) * n + i0 + tx] = sum[r];
    }
}
