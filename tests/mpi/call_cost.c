/* What one call of MPI takes, with and without a recording (docs/overhead.md):
 *
 *   mpicc.openmpi -O2 tests/mpi/call_cost.c -o call_cost
 *   taskset -c 1 ./call_cost
 *   taskset -c 1 kymo profile --activities=cpu,mpi -- ./call_cost
 *
 * One process sends messages of 4 bytes to itself. Of 30 rounds of 5,000 the
 * fastest one counts, so other programs on the machine disturb little.
 */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 30
#define CALLS 5000

static int out, in;

static void Exchange(void) {
  MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
}

static void Request(void) {
  MPI_Request requests[2];
  MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void Reduce(void) {
  MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static double FastestNs(void (*call)(void)) {
  double fastest = 1e9, begin, ns;
  int round, i;
  for (round = 0; round < ROUNDS; ++round) {
    begin = MPI_Wtime();
    for (i = 0; i < CALLS; ++i) call();
    ns = (MPI_Wtime() - begin) / CALLS * 1e9;
    if (ns < fastest) fastest = ns;
  }
  return fastest;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  printf("MPI_Allreduce %.0f ns, MPI_Sendrecv %.0f ns, "
         "MPI_Irecv + MPI_Isend + MPI_Waitall %.0f ns\n",
         FastestNs(Reduce), FastestNs(Exchange), FastestNs(Request));
  MPI_Finalize();
  return 0;
}
