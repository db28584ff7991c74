// A spin lock for each bucket, taken so that the threads of a warp do not wait for one another for ever.
extern "C" __global__ void spins(const int *in, int *lock, volatile int *out, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        int bucket = in[t + i];
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock[bucket], 0, 1) == 0) {
                out[bucket] = out[bucket] + t;
                __threadfence();
                atomicExch(&lock[bucket], 0);
                done = true;
            }
        }
    }
}
