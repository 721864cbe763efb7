// What the back end itself runs beside a kernel: filling buffers and holding the stream.
// `word_at` is oracle/words.rs, word for word; a test on the device compares them.

__device__ unsigned mix32(unsigned x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return x;
}

// The generator's word `index`; `key` is key_of(seed), computed on the host.
__device__ unsigned word_at(unsigned key, unsigned long long index) {
    unsigned lo = (unsigned)index, hi = (unsigned)(index >> 32);
    return mix32(mix32(lo + hi * 0x9E3779B1u + 0x7F4A7C15u) ^ key);
}

// A byte as bf16 in [0, 1): the upper half of the float.
__device__ unsigned unit_bf16(unsigned byte) { return __float_as_uint(byte * (1.0f / 256.0f)) >> 16; }

// 0 … n − 1 in random order: words.rs has the same lines.
__device__ unsigned long long shuffled(unsigned key, unsigned long long index, unsigned long long n) {
    int n_bits = n == 0 ? 0 : 63 - __clzll((long long)n);
    if (index >> n_bits) return index;
    unsigned mask = (unsigned)((1ull << n_bits) - 1), x = (unsigned)index;
    for (unsigned round = 0; round < 3; ++round) {
        x = (x * 0x9E3779B1u + mix32(key + round)) & mask;
        x ^= x >> ((n_bits + 1) / 2);
    }
    return x & mask;
}

// Fills `n` elements: 0 = words of which bits are kept and set, 1 = floats in [0, 1), 2 = doubles in [0, 1), 3 = pairs of
// bf16 in [0, 1), 4 = indices in random order.
extern "C" __global__ void vramlab_fill(void* out, unsigned long long n, unsigned key, unsigned kind,
                                        unsigned keep, unsigned set) {
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned word = word_at(key, i);
        if (kind == 0) {
            ((unsigned*)out)[i] = (word & keep) | set;
        } else if (kind == 1) {
            ((float*)out)[i] = (word >> 8) * (1.0f / 16777216.0f);
        } else if (kind == 3) {
            ((unsigned*)out)[i] = unit_bf16(word & 0xFF) | unit_bf16(word >> 16 & 0xFF) << 16;
        } else if (kind == 4) {
            ((unsigned*)out)[i] = (unsigned)shuffled(key, i, n);
        } else {
            ((double*)out)[i] = word * (1.0 / 4294967296.0);
        }
    }
}

// Holds the stream for `cycles` SM clocks, so that what is queued behind it starts without a gap.
extern "C" __global__ void vramlab_spin(unsigned long long cycles) {
    long long start = clock64();
    while ((unsigned long long)(clock64() - start) < cycles) {
    }
}
