// A dense switch in a loop, with a fall through, a return and a continue in it.
extern "C" __global__ void switches(const int *in, volatile int *out, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        switch (in[t + i]) {
        case 0: out[t] = 1; break;
        case 1: out[t] = in[i]; // falls through
        case 2: out[t + 1] = 5; continue;
        case 3: if (in[i] > 2) break; return;
        case 4: out[i] = t; break;
        case 5: out[t] += 9; break;
        case 6: out[t] = in[9]; break;
        default: out[0]++;
        }
        out[t + 7] = i;
    }
}
