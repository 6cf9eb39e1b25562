/* A rank of three that ranks_test.py records: calls that are seldom, and right.
 *
 * What a call does not read may be anything: no question about it may be put to
 * the library. Every message must find its partner.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stddef.h>

#define MANY 300
#define SIZE 3

/* The types and arrays beside MPI_IN_PLACE mean nothing. */
static void InPlace(int rank) {
  int all[SIZE] = {0}, one = rank, counts[SIZE] = {1, 1, 1},
      places[SIZE] = {0, 1, 2};
  int* const nothing = (int*)MPI_IN_PLACE;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT,
                MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT,
               MPI_COMM_WORLD);
  MPI_Alltoallv(MPI_IN_PLACE, nothing, nothing, MPI_DATATYPE_NULL, all, counts,
                places, MPI_INT, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, all, SIZE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, 0,
               MPI_COMM_WORLD);
    MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0,
                MPI_COMM_WORLD);
    MPI_Reduce(MPI_IN_PLACE, all, SIZE, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else {
    MPI_Gather(&one, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &one, 1, MPI_INT, 0,
                MPI_COMM_WORLD);
    MPI_Reduce(all, NULL, SIZE, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
}

/* 300 messages from rank 0 to rank 1, all complete in one call. */
static void ManyRequests(int rank) {
  int values[MANY] = {0}, i;
  MPI_Request requests[MANY];
  if (rank > 1) return;
  for (i = 0; i < MANY; ++i) {
    if (rank == 0) {
      MPI_Isend(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

/* 5 messages from rank 0 to rank 2, between the groups {0} and {1, 2}. */
static void BetweenGroups(int rank) {
  MPI_Comm own, between;
  int value = 0, i;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 1, &between);
  for (i = 0; i < 5; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 2, between);
    if (rank == 2) {
      MPI_Recv(&value, 1, MPI_INT, 0, 2, between, MPI_STATUS_IGNORE);
    }
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&own);
}

/* On communicators with the ranks in reverse order: 4 messages from rank 1 to
 * rank 2, and one from rank 2 to rank 1 whose communicator is gone before it is
 * complete. */
static void Duplicates(int rank) {
  MPI_Comm reverse, later, gone;
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 0, i;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
  MPI_Comm_idup(reverse, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (i = 0; i < 4; ++i) {
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 3, later);
    if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 1, 3, later, MPI_STATUS_IGNORE);
  }
  MPI_Comm_dup(reverse, &gone);
  if (rank == 2) MPI_Isend(&value, 1, MPI_INT, 1, 4, gone, &request);
  if (rank == 1) MPI_Irecv(&value, 1, MPI_INT, 0, 4, gone, &request);
  MPI_Comm_free(&gone);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&later);
  MPI_Comm_free(&reverse);
}

static jmp_buf before_the_call;
static void Leave(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  longjmp(before_the_call, *error);
}

/* The program's error handler leaves a call, as exceptions of C++ do. What
 * comes after it is recorded. */
static void LeftByItsHandler(void) {
  MPI_Errhandler handler;
  int value = 0;
  MPI_Comm_create_errhandler(Leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (setjmp(before_the_call) == 0) {
    MPI_Send(&value, 1, MPI_INT, 1000, 6, MPI_COMM_WORLD);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

/* 3 messages from rank 2 to rank 0, as mpi4py receives them. */
static void Probed(int rank) {
  int values[2] = {0}, i;
  MPI_Message message;
  for (i = 0; i < 3; ++i) {
    if (rank == 2) MPI_Send(values, 2, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Mprobe(2, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(values, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
  }
}

/* None of these is a message. */
static void NoMessages(void) {
  int value = 0;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(&value, 1, MPI_INT, 1000, 6, MPI_COMM_WORLD);
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD);
}

/* 3 messages from rank 1 to rank 0; the first and the second one are too long
 * for those who receive them, which their calls say. */
static void TooLong(int rank) {
  int values[2] = {0}, i;
  MPI_Request request;
  for (i = 0; i < 3 && rank == 1; ++i) {
    MPI_Send(values, i < 2 ? 2 : 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  MPI_Recv(values, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(values, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  MPI_Recv(values, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* 5 messages from rank 0 to rank 1. Nobody sees the first one come, because
 * its request is freed. A request that is cancelled gets none, but one that was
 * complete before. */
static void Freed(int rank) {
  static int values[2], first, none;
  int flag = 0;
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(&none, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Recv_init(&first, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Start(&request); /* this time it gets one */
    MPI_Request_free(&request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Send(values, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    MPI_Send(values, 2, MPI_INT, 1, 9, MPI_COMM_WORLD);
    MPI_Send(values, 2, MPI_INT, 1, 9, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(values, 2, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(values, 2, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    MPI_Send(values, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
    MPI_Send(values, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Irecv(&first, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Recv(values, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* On a communicator of ranks 0 and 1 that has a name: in each direction two
 * messages, and two further ones from rank 0 to rank 1. In MPI 4, the former
 * are halves of requests, and the latter have partitions. */
static void Pair(int rank) {
  MPI_Comm pair;
  int out[2] = {rank, rank}, in[2], i;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 1, rank, &pair);
  if (rank == 0) MPI_Comm_set_name(pair, "pair");
  MPI_Barrier(pair);
  if (rank <= 1) {
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Isendrecv(out, 1, MPI_INT, 1 - rank, 8, in, 2, MPI_INT, 1 - rank, 8,
                  pair, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(out, 1, MPI_INT, 1 - rank, 8, 1 - rank, 8, pair,
                          &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) {
      MPI_Psend_init(out, 2, 1, MPI_INT, 1, 8, pair, MPI_INFO_NULL, &request);
    } else {
      MPI_Precv_init(in, 2, 1, MPI_INT, 0, 8, pair, MPI_INFO_NULL, &request);
    }
    for (i = 0; i < 2; ++i) {
      MPI_Start(&request);
      if (rank == 0) MPI_Pready_range(0, 1, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#else
    for (i = 0; i < 2; ++i) {
      MPI_Sendrecv(out, 1, MPI_INT, 1 - rank, 8, in, 2, MPI_INT, 1 - rank, 8,
                   pair, MPI_STATUS_IGNORE);
    }
    for (i = 0; i < 2; ++i) {
      if (rank == 0) MPI_Send(out, 2, MPI_INT, 1, 8, pair);
      if (rank == 1) MPI_Recv(in, 2, MPI_INT, 0, 8, pair, MPI_STATUS_IGNORE);
    }
#endif
  }
  MPI_Comm_free(&pair);
}

/* Calls that all ranks of a window or a file make together. */
static void Shared(const char* path) {
  int *values, one = 1, i;
  MPI_Win window;
  MPI_File file;
  MPI_Request request;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &values, &window);
  for (i = 0; i < 4; ++i) MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_File_open(MPI_COMM_WORLD, path,
                MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  for (i = 0; i < 3; ++i) {
    MPI_File_write_at_all(file, 0, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_File_iwrite_all(file, &one, 1, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  InPlace(rank);
  ManyRequests(rank);
  BetweenGroups(rank);
  Duplicates(rank);
  LeftByItsHandler();
  Probed(rank);
  NoMessages();
  TooLong(rank);
  Freed(rank);
  Pair(rank);
  Shared(argv[1]);
  MPI_Finalize();
  return 0;
}
