// Asks the vendor's header, cuda_occupancy.h, about seeded random launches and prints its answers as lines of
// "cc threads registers static dynamic blocks limits". The header is not in this repository: it comes with the package
// nvidia-cuda-runtime (13.5.37 was used).
//
//   pip download --no-deps nvidia-cuda-runtime && unzip -q nvidia_cuda_runtime*.whl
//   g++ -O1 -I nvidia/cu13/include make.cpp -o make && ./make > header.txt
//
// Limits of an SM that the header takes as properties are the programming guide's, as in
// app/model/src/kernels/architecture.rs; everything else is the header's own arithmetic.
#include "cuda_occupancy.h"
#include <cstdint>
#include <cstdio>

struct Sm { int major, minor, threads, shared_kib, most_block_kib, reserved; };

static const Sm SMS[] = {
    {5, 0, 2048, 64, 48, 0},      {7, 0, 2048, 96, 96, 0},       {7, 5, 1024, 64, 64, 0},
    {8, 0, 2048, 164, 163, 1024}, {8, 6, 1536, 100, 99, 1024},  {8, 7, 1536, 164, 163, 1024},  {8, 9, 1536, 100, 99, 1024},
    {9, 0, 2048, 228, 227, 1024}, {10, 0, 2048, 228, 227, 1024}, {12, 0, 1536, 100, 99, 1024},
};

static uint64_t state = 0x9e3779b97f4a7c15ull;
static uint32_t below(uint32_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) % n);
}

int main() {
    for (int at = 0; at < 2500; at++) {
        const Sm &sm = SMS[at % 10];
        cudaOccDeviceProp device;
        device.computeMajor = sm.major;
        device.computeMinor = sm.minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = sm.threads;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerMultiprocessor = sm.shared_kib * 1024;
        device.sharedMemPerBlockOptin = sm.most_block_kib * 1024;
        device.reservedSharedMemPerBlock = sm.reserved;
        device.numSms = 1;
        int threads = below(3) ? 32 * (1 + (int)below(32)) : 1 + (int)below(1024);
        int registers = below(4) ? 16 + (int)below(80) : (int)below(256);
        int fixed = below(2) ? 0 : (int)below(below(2) ? 8192 : 49152);
        int dynamic = below(2) ? (int)below(below(3) ? 32768 : sm.shared_kib * 1024 + 2048) : 0;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = fixed;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic;
        kernel.numBlockBarriers = 1;
        cudaOccDeviceState carveout;
        carveout.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        cudaOccResult result;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &carveout, threads, dynamic)) return 1;
        printf("%d.%d %d %d %d %d %d %u\n", sm.major, sm.minor, threads, registers, fixed, dynamic,
               result.activeBlocksPerMultiprocessor, result.limitingFactors);
    }
}
