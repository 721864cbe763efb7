// Rounds floats to a shorter format. FORMAT 0 copies them, 1 is fp16, 2 bf16, 3 e4m3 that saturates. Input words become
// numbers of both signs, MASK + 1 powers of two from 2^LOW on, each as often; then they are scaled by SCALE_FACTOR.
//
// COUNT 0 writes and no more. COUNT 1 also counts the numbers of a block whose relative error is BUCKET_LOW or more and less
// than twice that; COUNT 2 those that became zero or passed the largest number.

#if FORMAT == 0
typedef unsigned Out;
#elif FORMAT == 3
typedef unsigned char Out;
#else
typedef unsigned short Out;
#endif

struct __align__(4 * sizeof(Out)) Four {
    Out at[4];
};

__device__ __forceinline__ float shaped(unsigned word) {
    unsigned exponent = (LOW) + 127 + ((word >> 23) & (MASK));
    return __uint_as_float((word & 0x807FFFFFu) | (exponent << 23)) * (float)(SCALE_FACTOR);
}

// To the nearest number of three fraction bits, ties to even, from 2^-6 on; below, to the nearest multiple of 2^-9.
__device__ __forceinline__ unsigned char soft_e4m3(float x) {
    unsigned bits = __float_as_uint(x), sign = bits >> 24 & 0x80u, size = bits & 0x7FFFFFFFu;
    if (size > 0x43E80000u) return sign | 0x7Eu;
    if (size >= 0x3C800000u) return sign | (((size + 0x7FFFFu + (size >> 20 & 1u)) >> 20) - (120u << 3));
    return sign | (unsigned char)__float2int_rn(__uint_as_float(size) * 512.0f);
}

__device__ __forceinline__ unsigned short soft_bf16(float x) {
    unsigned bits = __float_as_uint(x);
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

// Five exponent and ten fraction bits; infinity from 65520 on.
__device__ __forceinline__ unsigned short soft_fp16(float x) {
    unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7FFFFFFFu;
    if (size >= 0x477FF000u) return sign | 0x7C00u;
    if (size >= 0x38800000u) return sign | (((size + 0xFFFu + (size >> 13 & 1u)) >> 13) - (112u << 10));
    return sign | (unsigned short)__float2int_rn(__uint_as_float(size) * 16777216.0f);
}

__device__ __forceinline__ Out cast(float x) {
#if FORMAT == 0
    return __float_as_uint(x);
#elif FORMAT == 1 && !SOFT
    unsigned short out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
    return out;
#elif FORMAT == 1
    return soft_fp16(x);
#elif FORMAT == 2 && !SOFT && __CUDA_ARCH__ >= 800
    unsigned short out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(x));
    return out;
#elif FORMAT == 2
    return soft_bf16(x);
#else
    return soft_e4m3(x);
#endif
}

__device__ __forceinline__ Four cast4(float4 x) {
    Four out;
#if FORMAT == 3 && !SOFT && __CUDA_ARCH__ >= 890
    unsigned short low, high;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(x.y), "f"(x.x));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(x.w), "f"(x.z));
    out.at[0] = low & 0xFF;
    out.at[1] = low >> 8;
    out.at[2] = high & 0xFF;
    out.at[3] = high >> 8;
#else
    out.at[0] = cast(x.x);
    out.at[1] = cast(x.y);
    out.at[2] = cast(x.z);
    out.at[3] = cast(x.w);
#endif
    return out;
}

#if COUNT
// The number that the bits of the format stand for, without its sign.
__device__ float size_of(Out bits) {
#if FORMAT == 0
    return fabsf(__uint_as_float(bits));
#elif FORMAT == 1
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(bits));
    return fabsf(out);
#elif FORMAT == 2
    return fabsf(__uint_as_float((unsigned)bits << 16));
#else
    unsigned exponent = bits >> 3 & 15u, fraction = bits & 7u;
    return exponent == 0 ? fraction * (1.0f / 512.0f) : __uint_as_float((exponent + 120u) << 23 | fraction << 20);
#endif
}

__device__ unsigned is_counted(float x, Out bits) {
    float size = fabsf(x), stored = size_of(bits);
#if COUNT == 1
    float error = fabsf(stored - size) / size;
    const float least = BUCKET_LOW;
    return error >= least && (error < 2.0f * least || least == 0.5f);
#elif FORMAT == 1
    return stored == 0.0f || size >= 65520.0f;
#elif FORMAT == 3
    return stored == 0.0f || size > 464.0f;
#else
    return stored == 0.0f;
#endif
}
#endif

extern "C" __global__ void casts(const uint4* __restrict__ input, Four* __restrict__ out, unsigned long long* hits) {
    // A tile is 1024 times four numbers; without a count a block has one, with it many.
    unsigned long long first = (unsigned long long)blockIdx.x * TILES * 1024 + threadIdx.x;
#if COUNT
    unsigned n = 0;
#endif
    for (int tile = 0; tile < TILES; ++tile) {
        uint4 word[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) word[k] = input[first + tile * 1024 + k * 256];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float4 x = make_float4(shaped(word[k].x), shaped(word[k].y), shaped(word[k].z), shaped(word[k].w));
            Four cut = cast4(x);
            out[first + tile * 1024 + k * 256] = cut;
#if COUNT
            n += is_counted(x.x, cut.at[0]) + is_counted(x.y, cut.at[1]);
            n += is_counted(x.z, cut.at[2]) + is_counted(x.w, cut.at[3]);
#endif
        }
    }
#if COUNT
    __shared__ unsigned all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    atomicAdd(&all, n);
    __syncthreads();
    if (threadIdx.x == 0) hits[blockIdx.x] = all;
#endif
}
