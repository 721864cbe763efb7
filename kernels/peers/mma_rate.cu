#include <cstdio>
#include <cuda_runtime.h>
// register-only mma.sync
template<int ACC> __global__ void k(float* out, int iters){
  float c[ACC][4]; for(int i=0;i<ACC;i++) for(int j=0;j<4;j++) c[i][j]=threadIdx.x*0.001f+i;
  unsigned a[4],b[2]; for(int i=0;i<4;i++) a[i]=0x3f003f00u+threadIdx.x*65537*i; b[0]=0x3e803e80u+threadIdx.x; b[1]=0x3f103f10u;
  for(int it=0;it<iters;it++){
#pragma unroll
    for(int i=0;i<ACC;i++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};":"+f"(c[i][0]),"+f"(c[i][1]),"+f"(c[i][2]),"+f"(c[i][3]):"r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"r"(b[0]),"r"(b[1]));
  }
  float s=0; for(int i=0;i<ACC;i++) for(int j=0;j<4;j++) s+=c[i][j];
  out[blockIdx.x*blockDim.x+threadIdx.x]=s;
}
template<int ACC> void go(int warps){
  float* o; cudaMalloc(&o, 1<<24); cudaEvent_t e,f; cudaEventCreate(&e); cudaEventCreate(&f);
  int iters=20000*8/ACC; float best=1e9, ms;
  for(int r=0;r<4;r++){ cudaEventRecord(e); k<ACC><<<132,warps*32>>>(o,iters); cudaEventRecord(f); cudaEventSynchronize(f); cudaEventElapsedTime(&ms,e,f); if(ms<best)best=ms; }
  double fl=132.0*warps*iters*(double)ACC*4096; printf("acc %d warps %d: %.1f TFLOP/s best %.3f ms\n",ACC,warps,fl/best/1e9,best);
}
int main(){ for(int w: {4,8,12,16}){ go<8>(w); go<16>(w);} go<32>(4); go<32>(8); }
