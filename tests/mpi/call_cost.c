/* What each call of MPI takes, with and without a recording (docs/overhead.md):
 *
 *   mpicc.openmpi -O2 tests/mpi/call_cost.c -o call_cost
 *   taskset -c 1 ./call_cost
 *   taskset -c 1 kymo profile --activities=cpu,mpi -- ./call_cost
 *
 * One process sends messages of 4 bytes to itself, 100 of a kind at a time. Of
 * 60 rounds of 2,000 calls the fastest one counts, so other programs on the
 * machine disturb little.
 */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 60
#define GROUPS 20
#define CALLS 100

enum {
  kSend,
  kRecv,
  kSendrecv,
  kIrecv,
  kIsend,
  kWait,
  kWaitall,
  kReduce,
  kMost
};
static const char* const names[kMost] = {
    "MPI_Send",  "MPI_Recv", "MPI_Sendrecv",     "MPI_Irecv",
    "MPI_Isend", "MPI_Wait", "MPI_Waitall of 2", "MPI_Allreduce"};

static int out, in;
static MPI_Request requests[2 * CALLS];
static MPI_Status statuses[2];
static double seconds[kMost];

/* The time of 100 calls; `i` counts them. */
#define TIMED(KIND, CALL)                 \
  do {                                    \
    const double begin = MPI_Wtime();     \
    int i;                                \
    for (i = 0; i < CALLS; ++i) CALL;     \
    seconds[KIND] += MPI_Wtime() - begin; \
  } while (0)

static void Receive(int at) {
  TIMED(kIrecv,
        MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[2 * i + at]));
}

static void Send(int at) {
  TIMED(kIsend, MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                          &requests[2 * i + at]));
}

static void Group(void) {
  Receive(0);
  Send(1);
  TIMED(kWaitall, MPI_Waitall(2, &requests[2 * i], statuses));
  Receive(0);
  TIMED(kSend, MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
  TIMED(kWait, MPI_Wait(&requests[2 * i], MPI_STATUS_IGNORE));
  Send(0);
  TIMED(kRecv,
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  MPI_Waitall(2 * CALLS, requests, MPI_STATUSES_IGNORE);
  TIMED(kSendrecv, MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1,
                                MPI_COMM_SELF, MPI_STATUS_IGNORE));
  TIMED(kReduce, MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
}

int main(int argc, char** argv) {
  double fastest[kMost];
  int round, group, kind;
  MPI_Init(&argc, &argv);
  for (round = 0; round < ROUNDS; ++round) {
    for (kind = 0; kind < kMost; ++kind) seconds[kind] = 0;
    for (group = 0; group < GROUPS; ++group) Group();
    for (kind = 0; kind < kMost; ++kind) {
      /* Each is called twice in a group. */
      const int calls =
          GROUPS * CALLS * (kind == kIrecv || kind == kIsend ? 2 : 1);
      const double ns = seconds[kind] / calls * 1e9;
      if (round == 0 || ns < fastest[kind]) fastest[kind] = ns;
    }
  }
  for (kind = 0; kind < kMost; ++kind) {
    printf("%-17s %4.0f ns\n", names[kind], fastest[kind]);
  }
  MPI_Finalize();
  return 0;
}
