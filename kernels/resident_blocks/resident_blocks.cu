// How many blocks an SM really holds, by time: every block stays for STAY_NS and does nothing else, so that a launch takes as many
// times STAY_NS as an SM has to take turns. Its dynamic shared memory and its threads are what it asks for.

extern "C" __global__ void resident_blocks(unsigned* out) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        __nanosleep(200);
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - start < STAY_NS);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = 1;
    }
}
