/* A rank that how_exact.py records: it writes what its clock says before and
 * after each of its barriers, so that the times in the trace can be judged. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define CALLS 200

static long long Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char** argv) {
  static long long before[CALLS], after[CALLS];
  char name[4096];
  int rank, i;
  FILE* file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < CALLS; ++i) {
    before[i] = Now();
    MPI_Barrier(MPI_COMM_SELF);
    after[i] = Now();
  }
  MPI_Finalize();
  snprintf(name, sizeof(name), "%s/%d", argv[1], rank);
  file = fopen(name, "w");
  if (file == NULL) return 1;
  for (i = 0; i < CALLS; ++i) fprintf(file, "%lld %lld\n", before[i], after[i]);
  return fclose(file) != 0;
}
