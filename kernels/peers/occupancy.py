"""Asks the driver how many blocks of a kernel fit on an SM, for seeded random launches, and prints its answers.

Lines of "threads registers static dynamic blocks". Registers are those that the driver reports, not those asked for. Needs a GPU,
libcuda and libnvrtc; no package.
"""

import ctypes
import random
import sys

SOURCE = """
extern "C" __global__ void k(float* a, int n) {
    %s
    float v[64];
    #pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = a[i * n + threadIdx.x];
    #pragma unroll 1
    for (int r = 0; r < n; ++r)
        #pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + 7) %% 64] + v[(i + 31) %% 64];
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 64; ++i) sum += v[i];
    a[threadIdx.x] = sum;
}
"""


def check(code, what):
    if code:
        sys.exit(f"{what}: {code}")


def load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit(f"none of {names} is found")


cuda = load("libcuda.so.1")
nvrtc = load("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
check(cuda.cuInit(0), "cuInit")
device, context = ctypes.c_int(), ctypes.c_void_p()
check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
major, minor, optin = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
for value, attribute in ((major, 75), (minor, 76), (optin, 97)):
    check(cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device), "cuDeviceGetAttribute")


def compiled(registers, static):
    """The function of a kernel held to `registers`, with `static` bytes of shared memory."""
    words = f"__shared__ float pad[{static // 4}]; pad[threadIdx.x % {static // 4}] = a[n]; __syncthreads(); a[0] = pad[n];" if static else ""
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), (SOURCE % words).encode(), b"k.cu", 0, None, None), "create")
    options = [f"--gpu-architecture=sm_{major.value}{minor.value}".encode(), f"--maxrregcount={registers}".encode()]
    check(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)), "compile")
    size = ctypes.c_size_t()
    check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "size")
    image = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetCUBIN(program, image), "cubin")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), image), "cuModuleLoadData")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"), "cuModuleGetFunction")
    return function


def attribute(function, which):
    value = ctypes.c_int()
    check(cuda.cuFuncGetAttribute(ctypes.byref(value), which, function), "cuFuncGetAttribute")
    return value.value


def main():
    rng = random.Random(23)
    functions = [compiled(registers, static) for registers in (24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 168, 255) for static in (0, 1024, 12000, 40960)]
    for function in functions:
        # The carve-out gives shared memory all that it may have.
        check(cuda.cuFuncSetAttribute(function, 9, 100), "carve-out")
        registers, static = attribute(function, 4), attribute(function, 1)
        for _ in range(50):
            threads = 32 * rng.randint(1, 32) if rng.random() < 0.5 else rng.randint(1, 1024)
            room = optin.value - static
            dynamic = rng.choice([0, 0, rng.randint(0, min(32768, room)), rng.randint(0, room)])
            check(cuda.cuFuncSetAttribute(function, 8, dynamic), "dynamic shared memory")
            blocks = ctypes.c_int()
            check(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(blocks), function, threads, ctypes.c_size_t(dynamic)), "occupancy")
            print(threads, registers, static, dynamic, blocks.value)


main()
