// What the RTL of tb/hosted.rs does, by its number there. HERE is the folder of the RTL.
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Keeps the code from being optimised away.
static void *a_megabyte() {
  static void *volatile last;
  return last = new char[1 << 20];
}

// Writes the number of a process into the file `process`.
static void tell(pid_t process) {
  FILE *file = fopen(HERE "/process", "w");
  fprintf(file, "%d", (int)process);
  fclose(file);
}

extern "C" void act(int what, int cycle) {
  switch (what) {
    case 7: if (cycle == -1) exit(0); return;
    case 11: if (cycle == -2) exit(0); return;
    case 20: if (cycle == 45) exit(0); return;
    case 21: if (cycle == -1) tell(getpid()); return;
  }
  if (cycle != 20) return;
  switch (what) {
    case 1: exit(0);
    case 2: _exit(0);
    case 3: abort();
    case 4: *(volatile int *)8 = 1; return;
    case 5: for (;;) { volatile int n = 0; (void)n; }
    case 6: for (;;) memset(a_megabyte(), 1, 1 << 20);
    case 8: for (int fd = 0; fd < 1024; ++fd) close(fd); return;
    case 9: for (int fd = 0; fd < 1024; ++fd) if (write(fd, "garbage that answers nothing that was asked", 43)) {} return;
    case 10: {
      // An answer as the host writes it: the next one counts, and 128 cycles are done.
      struct { uint64_t number; uint32_t status, size; uint64_t value, used; } answer = {1, 0, 0, 128, 1};
      for (int fd = 3; fd < 1024; ++fd) if (write(fd, &answer, sizeof(answer))) {}
      exit(0);
    }
    case 15: kill(0, SIGKILL); return;
    case 16: if (fork() == 0) for (;;) pause(); exit(0);
    case 17: kill(getpid(), SIGSTOP); return;
    case 18: {
      // The answer to the request that the host obeys now, which is on its stack: ten cycles and no more, without a reason.
      uint64_t local = 0, *at = &local;
      while (at[1] != 1 || at[2] > 7 || at[3] == 0 || at[3] > 128) ++at;
      struct { uint64_t number; uint32_t status, size; uint64_t value, used; } answer = {*at, 0, 0, 10, 1};
      for (int fd = 3; fd < 1024; ++fd) if (write(fd, &answer, sizeof(answer))) {}
      return;
    }
    case 19: {
      // The file that both processes use, behind its head.
      FILE *maps = fopen("/proc/self/maps", "r");
      char line[4096];
      unsigned long from, to;
      while (fgets(line, sizeof(line), maps)) {
        if (!strstr(line, "rw-s") || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
        memset((char *)from + 4096, 4, to - from - 4096);
      }
      fclose(maps);
      return;
    }
    case 22: {
      const pid_t parent = getpid();
      if (fork() != 0) exit(0);
      tell(getpid());
      while (getppid() == parent) usleep(1000);
      for (int fd = 3; fd < 1024; ++fd) if (write(fd, "garbage that answers nothing that was asked", 43)) {}
      for (;;) pause();
    }
    case 24: {
      // The thread of the RTL, and the one that waits for the end of the bench.
      int threads = 0;
      DIR *all = opendir("/proc/self/task");
      while (const dirent *one = readdir(all)) threads += one->d_name[0] != '.';
      closedir(all);
      if (threads != 2) exit(threads);
      return;
    }
    case 14: for (int n = 0; n < 200000; ++n) putchar(0); return;  // not to be seen in the log of the tests
  }
}
