/* The target side of test_backend_plugin.c: notes the programs that load it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void NoteStart(void) {
  const char* const path = getenv("TICKS_LOG");
  char line[64];
  struct timespec now;
  if (path == NULL) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int size =
      snprintf(line, sizeof(line), "%d %lld\n", (int)getpid(),
               (long long)now.tv_sec * 1000000000 + (long long)now.tv_nsec);
  const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return;
  if (write(log, line, (size_t)size) != size) abort();
  close(log);
}
