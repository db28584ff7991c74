#include "kern.h"
// Not a kernel: its code is a CF program all the same, of one word.
__attribute__((noinline)) int helper(int a) { return a * a + 3; }
KERNEL(search) {
  uint t = TID, x = t, y = 1;
  if (t & 1u) {
    x = t * 3u;
    for (uint i = 0; i < t; i++) {
      x ^= i * 7u;
      if (x == (uint)b) break;
    }
  }
  OUT(x, y);
}
KERNEL(straight) {
  uint t = TID, x = t * 2u, y = 1;
  OUT(x, y);
}
KERNEL(branch) {
  uint t = TID, x = t * 2u, y = 1;
  if (t == (uint)a) {
    x = x * x + t;
    y = x * 5u + (uint)b;
    y *= x;
  }
  OUT(x, y);
}
