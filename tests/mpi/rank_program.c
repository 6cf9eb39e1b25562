/* A rank of the job that ranks_test.py records.
 *
 * rank_program STEPS LATE_RANK: in each step, rank LATE_RANK sleeps 30 ms
 * before a reduction that all ranks take part in. Around it are messages of
 * each kind, with known peers, tags and sizes. With a third argument the last
 * rank ends before MPI_Finalize: by MPI_Abort ("abort"), or just so ("exit").
 * Or the first rank is killed while the others wait for it ("die"). Or the
 * first two receive from each other ("deadlock"), after each has made a file,
 * FOLDER/RANK, with the fourth argument.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 100

static void Blocking(int rank, int size) {
  double out[COUNT] = {0}, in[COUNT];
  const int up = (rank + 1) % size, down = (rank + size - 1) % size;
  MPI_Sendrecv(out, COUNT, MPI_DOUBLE, up, 1, in, COUNT, MPI_DOUBLE, down, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send(out, 3, MPI_INT, size - 1, 2, MPI_COMM_WORLD);
  if (rank == size - 1) {
    /* More room than comes, from anybody. */
    MPI_Recv(in, COUNT, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
}

static void Requests(int rank, int size, MPI_Comm comm) {
  double out[COUNT] = {0}, in[COUNT];
  MPI_Request requests[2];
  MPI_Irecv(in, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
            &requests[0]);
  MPI_Isend(out, COUNT / 2, MPI_DOUBLE, (rank + 1) % size, 3, comm,
            &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void Persistent(int rank, int size, int steps) {
  int out = 0, in, i, flag = 0;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD,
                &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD,
                &requests[1]);
  for (i = 0; i < steps; ++i) {
    MPI_Startall(2, requests);
    do {
      MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    } while (!flag);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

int main(int argc, char** argv) {
  int rank, size, i;
  const int steps = argc > 1 ? atoi(argv[1]) : 1;
  const int late = argc > 2 ? atoi(argv[2]) : 0;
  double value = 1, sum;
  MPI_Comm again;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* The same group, and the ranks in reverse order: other communicators. */
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &again);
  for (i = 0; i < steps; ++i) {
    MPI_Pcontrol(i + 1);
    Blocking(rank, size);
    Requests(size - 1 - rank, size, again);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) usleep(30000);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Pcontrol(0);
  Persistent(rank, size, steps);
  MPI_Comm_free(&again);
  if (argc > 3 && strcmp(argv[3], "die") == 0) {
    if (rank == 0) raise(SIGKILL);
    if (rank == 1) {
      MPI_Recv(&sum, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (argc > 4 && strcmp(argv[3], "deadlock") == 0) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%d", argv[4], rank);
    fclose(fopen(path, "w"));
    if (rank < 2) {
      MPI_Recv(&sum, 1, MPI_DOUBLE, 1 - rank, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /* With "die" and "deadlock", no rank gets here. */
  if (argc > 3 && rank == size - 1) {
    if (strcmp(argv[3], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    _exit(0);
  }
  MPI_Finalize();
  return 0;
}
