// Votes, ballots and shuffles, in a loop that threads leave.
extern "C" __global__ void votes(const int *in, int *out, int n) {
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        int v = in[t + i];
        unsigned all = __activemask();
        if (__any_sync(all, v > 5)) sum += __popc(__ballot_sync(all, v > 7));
        if (__all_sync(all, v < 100)) continue;
        sum += __shfl_xor_sync(all, v, 1);
        if (v == 77) break;
    }
    out[t] = sum;
}
