// One injected bug each, for the checkers of compute-sanitizer: `fault_zoo NAME`. Build with line numbers:
// nvcc -lineinfo -o fault_zoo fault_zoo.cu

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 256;

// Writes element N too: `<=` in place of `<`.
__global__ void one_too_far(float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= N) out[i] = 1.0f;
}

// The address of a float4 is divisible by 4 and not by 16.
__global__ void shifted_float4(const float *in, float4 *out) {
    out[threadIdx.x] = *reinterpret_cast<const float4 *>(in + 4 * threadIdx.x + 1);
}

// The neighbour's word is read before anybody waits for it to be written.
__global__ void no_barrier(float *out) {
    __shared__ float row[N];
    row[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = row[(threadIdx.x + 1) % N];
}

// All blocks add to one word of global memory with an ordinary load and store.
__global__ void lost_updates(int *total) { *total = *total + 1; }

__global__ void sum_into(const float *in, float *out) {
    float sum = 0.0f;
    for (int i = 0; i < N; ++i) sum += in[i];
    *out = sum;
}

// Half of the warp waits at a barrier that the other half never reaches.
__global__ void half_a_barrier(float *out) {
    if (threadIdx.x % 32 < 16) {
        __syncthreads();
        out[threadIdx.x] = 1.0f;
    }
}

// The two halves of a warp wait at two different barriers.
__global__ void two_barriers(float *out) {
    if (threadIdx.x % 32 < 16) {
        __syncthreads();
        out[threadIdx.x] = 1.0f;
    } else {
        out[threadIdx.x] = 2.0f;
        __syncthreads();
    }
    out[threadIdx.x] += 1.0f;
}

// All lanes come to a warp barrier whose mask names half of them.
__global__ void half_a_mask(float *out) {
    out[threadIdx.x] = threadIdx.x;
    __syncwarp(0x0000ffffu);
    out[threadIdx.x] += 1.0f;
}

// The row in shared memory ends before its last index.
__global__ void past_shared(float *out) {
    __shared__ float row[N];
    row[threadIdx.x + 1] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x];
}

__global__ void set_all(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0f;
}

static float *floats(size_t n, bool is_zeroed = true) {
    float *memory = nullptr;
    cudaMalloc(&memory, n * sizeof(float));
    if (is_zeroed) cudaMemset(memory, 0, n * sizeof(float));
    return memory;
}

static bool is(const char *name, const char *wanted) { return std::strcmp(name, wanted) == 0; }

static void play(const char *name) {
    if (is(name, "out_of_bounds")) {
        float *out = floats(N);
        one_too_far<<<2, N>>>(out);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else if (is(name, "misaligned")) {
        float *in = floats(8 * N), *out = floats(4 * N);
        shifted_float4<<<1, N>>>(in, reinterpret_cast<float4 *>(out));
        cudaDeviceSynchronize();
        cudaFree(in);
        cudaFree(out);
    } else if (is(name, "shared_race")) {
        float *out = floats(N);
        no_barrier<<<1, N>>>(out);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else if (is(name, "global_race")) {
        float *total = floats(1);
        lost_updates<<<64, 32>>>(reinterpret_cast<int *>(total));
        cudaDeviceSynchronize();
        cudaFree(total);
    } else if (is(name, "uninitialised")) {
        float *in = floats(N, false), *out = floats(1);
        sum_into<<<1, 1>>>(in, out);
        cudaDeviceSynchronize();
        cudaFree(in);
        cudaFree(out);
    } else if (is(name, "divergent_barrier")) {
        float *out = floats(N);
        half_a_barrier<<<1, 64>>>(out);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else if (is(name, "two_barriers")) {
        float *out = floats(N);
        two_barriers<<<1, 64>>>(out);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else if (is(name, "syncwarp_mask")) {
        float *out = floats(N);
        half_a_mask<<<1, 32>>>(out);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else if (is(name, "past_shared")) {
        float *out = floats(N);
        past_shared<<<1, N>>>(out);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else if (is(name, "double_free")) {
        float *out = floats(N);
        set_all<<<1, N>>>(out, N);
        cudaDeviceSynchronize();
        cudaFree(out);
        cudaFree(out);
    } else if (is(name, "use_after_free")) {
        float *out = floats(1 << 20);
        cudaFree(out);
        set_all<<<1, N>>>(out, N);
        cudaDeviceSynchronize();
    } else if (is(name, "leak")) {
        float *kept = floats(N), *lost = floats(1 << 20);
        set_all<<<1, N>>>(kept, N);
        set_all<<<1, N>>>(lost, N);
        cudaDeviceSynchronize();
        cudaFree(kept);
    } else if (is(name, "inside_a_pool")) {
        // Two blocks of a pool of our own: the overrun of the first lands in the second, inside one allocation.
        float *pool = floats(2 * N);
        set_all<<<2, N>>>(pool, N + 1);
        cudaDeviceSynchronize();
        cudaFree(pool);
    } else if (is(name, "none")) {
        float *out = floats(N);
        set_all<<<1, N>>>(out, N);
        cudaDeviceSynchronize();
        cudaFree(out);
    } else {
        std::fprintf(stderr, "there is no fault \"%s\"\n", name);
    }
}

int main(int argc, char **argv) {
    play(argc > 1 ? argv[1] : "none");
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaDeviceReset();
    return 0;
}
