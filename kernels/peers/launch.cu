// The cost of launching an empty kernel from plain C++, through the driver API that the program uses too: the yardstick
// of the self-test. Prints one JSON object. Build: nvcc -arch=native launch.cu -lcuda
#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

__global__ void empty() {}

__global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int main() {
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int i = 0; i < 20000; ++i) {
        empty<<<1, 32>>>();
    }
    cudaDeviceSynchronize();
    cudaFunction_t handle;
    if (cudaGetFuncBySymbol(&handle, (const void*)empty) != cudaSuccess) {
        return 1;
    }
    auto launch = [&] { return cuLaunchKernel((CUfunction)handle, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr); };
    std::vector<double> call, queued;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 100; ++i) {
            auto start = std::chrono::steady_clock::now();
            launch();
            call.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
        }
        cudaDeviceSynchronize();
    }
    for (int round = 0; round < 51; ++round) {
        spin<<<1, 1>>>(1300000);
        cudaEventRecord(from);
        for (int i = 0; i < 100; ++i) {
            launch();
        }
        cudaEventRecord(to);
        cudaEventSynchronize(to);
        float ms = 0;
        cudaEventElapsedTime(&ms, from, to);
        queued.push_back(ms * 1e3 / 100);
    }
    if (cudaGetLastError() != cudaSuccess) {
        return 1;
    }
    std::printf("{\"call_us\": %.4f, \"queued_us\": %.4f}\n", median(call), median(queued));
}
