// What mma.sync does without any memory: every warp multiplies what it holds in registers, again and again, with 8, 16 or 32 sums under
// way. nvcc -O3 -arch=sm_90 -o mma_rate mma_rate.cu && ./mma_rate prints bf16 TFLOP/s by warps an SM.
#include <cstdio>
#include <cuda_runtime.h>

template <int SUMS> __global__ void multiply(float* out, int turns) {
    float sum[SUMS][4];
    for (int i = 0; i < SUMS; ++i) {
        for (int j = 0; j < 4; ++j) {
            sum[i][j] = threadIdx.x * 0.001f + i;
        }
    }
    unsigned x[4], w[2] = {0x3e803e80u + threadIdx.x, 0x3f103f10u};
    for (int i = 0; i < 4; ++i) {
        x[i] = 0x3f003f00u + threadIdx.x * 65537 * i;
    }
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) {
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
                         : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w[0]), "r"(w[1]));
        }
    }
    float all = 0;
    for (int i = 0; i < SUMS; ++i) {
        for (int j = 0; j < 4; ++j) {
            all += sum[i][j];
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

template <int SUMS> void measure(int n_sms, int warps, float* out) {
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    int turns = 160000 / SUMS;
    float best = 1e9f, ms;
    for (int i = 0; i < 4; ++i) {
        cudaEventRecord(from);
        multiply<SUMS><<<n_sms, warps * 32>>>(out, turns);
        cudaEventRecord(to);
        cudaEventSynchronize(to);
        cudaEventElapsedTime(&ms, from, to);
        best = ms < best ? ms : best;
    }
    double flop = (double)n_sms * warps * turns * SUMS * 16 * 8 * 16 * 2;
    printf("%2d sums, %2d warps an SM: %.1f TFLOP/s\n", SUMS, warps, flop / best / 1e9);
}

int main() {
    int n_sms;
    cudaDeviceGetAttribute(&n_sms, cudaDevAttrMultiProcessorCount, 0);
    float* out;
    cudaMalloc(&out, n_sms * 512 * sizeof(float));
    for (int warps : {4, 8, 12, 16}) {
        measure<8>(n_sms, warps, out);
        measure<16>(n_sms, warps, out);
    }
    measure<32>(n_sms, 4, out);
    measure<32>(n_sms, 8, out);
}
