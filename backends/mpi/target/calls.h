// calls.h - the functions of MPI that are recorded, and what their arguments
// mean.
//
//   KYMO_MPI_COLLECTIVES(X) calls X(NAME, ARITY, ROLES) for each collective,
//   and so do the others for theirs.
//
// ROLES has a letter for each argument:
//
//   n count     t datatype     of what is sent (of a receive: received)
//   d rank that gets it        s rank that it comes from
//   g tag       c communicator
//   R root      V counts of each rank, whose sum is sent
//   v           counts of each rank of our group, whose sum is sent
//   b buffer    that may be MPI_IN_PLACE: then n, V and t say nothing, and
//   N W T       count, counts and datatype are those of the other buffer
//   m M         address of a message that the call takes, or finds
//   k           address of a communicator that the call makes
//   r address of a request that the call makes
//   S address of a status that the call fills
//   e G         source and tag of the receiving half of a sendrecv
//   u           partitions, each of `n` elements
//   f file      w window       . anything else
//   x y         window and file of a call that all ranks make together
//   p P         address of a window that the call makes, or frees
//   q Q         the same of a file
#ifndef KYMO_BACKENDS_MPI_TARGET_CALLS_H_
#define KYMO_BACKENDS_MPI_TARGET_CALLS_H_

// Blocking point to point, and what begins a request.
#define KYMO_MPI_MESSAGES(X)          \
  X(Send, 6, ".ntdgc")                \
  X(Bsend, 6, ".ntdgc")               \
  X(Ssend, 6, ".ntdgc")               \
  X(Rsend, 6, ".ntdgc")               \
  X(Recv, 7, ".ntsgcS")               \
  X(Mrecv, 5, ".ntmS")                \
  X(Probe, 4, "sgcS")                 \
  X(Mprobe, 5, "sgcMS")               \
  X(Sendrecv, 12, ".ntdg...eGcS")     \
  X(Sendrecv_replace, 9, ".ntdgeGcS") \
  X(Isend, 7, ".ntdgcr")              \
  X(Ibsend, 7, ".ntdgcr")             \
  X(Issend, 7, ".ntdgcr")             \
  X(Irsend, 7, ".ntdgcr")             \
  X(Irecv, 7, ".ntsgcr")              \
  X(Imrecv, 5, ".ntmr")               \
  X(Isendrecv, 12, ".ntdg...eGcr")    \
  X(Isendrecv_replace, 9, ".ntdgeGcr")

// Persistent requests: the call makes one, MPI_Start begins it.
#define KYMO_MPI_PERSISTENT(X)  \
  X(Send_init, 7, ".ntdgcr")    \
  X(Bsend_init, 7, ".ntdgcr")   \
  X(Ssend_init, 7, ".ntdgcr")   \
  X(Rsend_init, 7, ".ntdgcr")   \
  X(Recv_init, 7, ".ntsgcr")    \
  X(Psend_init, 9, ".untdgc.r") \
  X(Precv_init, 9, ".untsgc.r")

#define KYMO_MPI_COLLECTIVES(X)            \
  X(Barrier, 1, "c")                       \
  X(Bcast, 5, ".ntRc")                     \
  X(Gather, 8, "bnt...Rc")                 \
  X(Gatherv, 9, "bnt....Rc")               \
  X(Scatter, 8, "...bntRc")                \
  X(Scatterv, 9, "....bntRc")              \
  X(Allgather, 7, "bnt.NTc")               \
  X(Allgatherv, 8, "bnt....c")             \
  X(Alltoall, 7, "bnt.NTc")                \
  X(Alltoallv, 9, "bV.t.W.Tc")             \
  X(Alltoallw, 9, "........c")             \
  X(Allreduce, 6, "..nt.c")                \
  X(Reduce, 7, "..nt.Rc")                  \
  X(Reduce_scatter, 6, "..vt.c")           \
  X(Reduce_scatter_block, 6, "..nt.c")     \
  X(Scan, 6, "..nt.c")                     \
  X(Exscan, 6, "..nt.c")                   \
  X(Neighbor_allgather, 7, ".nt...c")      \
  X(Neighbor_alltoall, 7, ".nt...c")       \
  X(Neighbor_alltoallv, 9, "...t....c")    \
  X(Ibarrier, 2, "cr")                     \
  X(Ibcast, 6, ".ntRcr")                   \
  X(Igather, 9, "bnt...Rcr")               \
  X(Iscatter, 9, "...bntRcr")              \
  X(Iallgather, 8, "bnt.NTcr")             \
  X(Iallgatherv, 9, "bnt....cr")           \
  X(Ialltoall, 8, "bnt.NTcr")              \
  X(Ialltoallv, 10, "bV.t.W.Tcr")          \
  X(Iallreduce, 7, "..nt.cr")              \
  X(Ireduce, 8, "..nt.Rcr")                \
  X(Ireduce_scatter, 7, "..vt.cr")         \
  X(Neighbor_allgatherv, 8, ".nt....c")    \
  X(Neighbor_alltoallw, 9, "........c")    \
  X(Igatherv, 10, "bnt....Rcr")            \
  X(Iscatterv, 10, "....bntRcr")           \
  X(Ialltoallw, 10, "........cr")          \
  X(Ireduce_scatter_block, 7, "..nt.cr")   \
  X(Iscan, 7, "..nt.cr")                   \
  X(Iexscan, 7, "..nt.cr")                 \
  X(Ineighbor_allgather, 8, ".nt...cr")    \
  X(Ineighbor_allgatherv, 9, ".nt....cr")  \
  X(Ineighbor_alltoall, 8, ".nt...cr")     \
  X(Ineighbor_alltoallv, 10, "...t....cr") \
  X(Ineighbor_alltoallw, 10, "........cr")

// One-sided, and files. MPI_Get_accumulate may leave its first buffer unread
// (MPI_NO_OP), so the bytes are those of its result. The targets are ranks of
// the window's group, which Kymo does not translate, so they are not recorded
// as peers.
#define KYMO_MPI_OTHERS(X)               \
  X(Put, 8, ".nt....w")                  \
  X(Get, 8, ".nt....w")                  \
  X(Accumulate, 9, ".nt.....w")          \
  X(Win_fence, 2, ".x")                  \
  X(Win_lock, 4, "...w")                 \
  X(Win_unlock, 2, ".w")                 \
  X(Win_lock_all, 2, ".w")               \
  X(Win_unlock_all, 1, "w")              \
  X(Win_flush, 2, ".w")                  \
  X(Win_flush_all, 1, "w")               \
  X(Win_post, 3, "..w")                  \
  X(Win_start, 3, "..w")                 \
  X(Win_complete, 1, "w")                \
  X(Win_wait, 1, "w")                    \
  X(File_read, 5, "f.ntS")               \
  X(File_read_all, 5, "y.ntS")           \
  X(File_read_at, 6, "f..ntS")           \
  X(File_read_at_all, 6, "y..ntS")       \
  X(File_write, 5, "f.ntS")              \
  X(File_write_all, 5, "y.ntS")          \
  X(File_write_at, 6, "f..ntS")          \
  X(File_write_at_all, 6, "y..ntS")      \
  X(File_sync, 1, "y")                   \
  X(Rput, 9, ".nt....wr")                \
  X(Rget, 9, ".nt....wr")                \
  X(Raccumulate, 10, ".nt.....wr")       \
  X(Get_accumulate, 12, "....nt.....w")  \
  X(Fetch_and_op, 7, "..t...w")          \
  X(Compare_and_swap, 7, "...t..w")      \
  X(Win_flush_local, 2, ".w")            \
  X(Win_flush_local_all, 1, "w")         \
  X(File_set_view, 6, "y.....")          \
  X(File_read_shared, 5, "f.ntS")        \
  X(File_write_shared, 5, "f.ntS")       \
  X(File_read_ordered, 5, "y.ntS")       \
  X(File_write_ordered, 5, "y.ntS")      \
  X(File_iread, 5, "f.ntr")              \
  X(File_iwrite, 5, "f.ntr")             \
  X(File_iread_at, 6, "f..ntr")          \
  X(File_iwrite_at, 6, "f..ntr")         \
  X(File_iread_all, 5, "y.ntr")          \
  X(File_iwrite_all, 5, "y.ntr")         \
  X(File_iread_at_all, 6, "y..ntr")      \
  X(File_iwrite_at_all, 6, "y..ntr")     \
  X(File_iread_shared, 5, "f.ntr")       \
  X(File_iwrite_shared, 5, "f.ntr")      \
  X(File_read_all_begin, 4, "f.nt")      \
  X(File_read_all_end, 3, "f.S")         \
  X(File_write_all_begin, 4, "f.nt")     \
  X(File_write_all_end, 3, "f.S")        \
  X(File_read_at_all_begin, 5, "f..nt")  \
  X(File_read_at_all_end, 3, "f.S")      \
  X(File_write_at_all_begin, 5, "f..nt") \
  X(File_write_at_all_end, 3, "f.S")     \
  X(File_read_ordered_begin, 4, "f.nt")  \
  X(File_read_ordered_end, 3, "f.S")     \
  X(File_write_ordered_begin, 4, "f.nt") \
  X(File_write_ordered_end, 3, "f.S")

// Collective calls that make a window or a file.
#define KYMO_MPI_MAKES_SHARED(X)      \
  X(Win_create, 6, "....cp")          \
  X(Win_create_dynamic, 3, ".cp")     \
  X(Win_allocate, 6, "...c.p")        \
  X(Win_allocate_shared, 6, "...c.p") \
  X(File_open, 5, "c...q")

// Collective calls that free one.
#define KYMO_MPI_FREES_SHARED(X) \
  X(Win_free, 1, "P")            \
  X(File_close, 1, "Q")

// Collective calls that make a communicator.
#define KYMO_MPI_MAKES_COMMUNICATOR(X)            \
  X(Comm_dup, 2, "ck")                            \
  X(Comm_dup_with_info, 3, "c.k")                 \
  X(Comm_create, 3, "c.k")                        \
  X(Comm_create_group, 4, "c..k")                 \
  X(Comm_split, 4, "c..k")                        \
  X(Comm_split_type, 5, "c...k")                  \
  X(Cart_create, 6, "c....k")                     \
  X(Cart_sub, 3, "c.k")                           \
  X(Graph_create, 6, "c....k")                    \
  X(Dist_graph_create_adjacent, 10, "c........k") \
  X(Dist_graph_create, 9, "c.......k")            \
  X(Intercomm_create, 6, "c....k")                \
  X(Intercomm_merge, 3, "c.k")                    \
  X(Comm_create_from_group, 5, "....k")           \
  X(Intercomm_create_from_groups, 7, "......k")   \
  X(Comm_spawn, 8, "....Rck.")                    \
  X(Comm_spawn_multiple, 9, ".....Rck.")          \
  X(Comm_accept, 5, "..Rck")                      \
  X(Comm_connect, 5, "..Rck")                     \
  X(Comm_join, 2, ".k")

// `Word a0, Word a1` and `a0, a1`.
#define KYMO_PARAMS_1 Word a0
#define KYMO_PARAMS_2 KYMO_PARAMS_1, Word a1
#define KYMO_PARAMS_3 KYMO_PARAMS_2, Word a2
#define KYMO_PARAMS_4 KYMO_PARAMS_3, Word a3
#define KYMO_PARAMS_5 KYMO_PARAMS_4, Word a4
#define KYMO_PARAMS_6 KYMO_PARAMS_5, Word a5
#define KYMO_PARAMS_7 KYMO_PARAMS_6, Word a6
#define KYMO_PARAMS_8 KYMO_PARAMS_7, Word a7
#define KYMO_PARAMS_9 KYMO_PARAMS_8, Word a8
#define KYMO_PARAMS_10 KYMO_PARAMS_9, Word a9
#define KYMO_PARAMS_11 KYMO_PARAMS_10, Word a10
#define KYMO_PARAMS_12 KYMO_PARAMS_11, Word a11
#define KYMO_ARGS_1 a0
#define KYMO_ARGS_2 KYMO_ARGS_1, a1
#define KYMO_ARGS_3 KYMO_ARGS_2, a2
#define KYMO_ARGS_4 KYMO_ARGS_3, a3
#define KYMO_ARGS_5 KYMO_ARGS_4, a4
#define KYMO_ARGS_6 KYMO_ARGS_5, a5
#define KYMO_ARGS_7 KYMO_ARGS_6, a6
#define KYMO_ARGS_8 KYMO_ARGS_7, a7
#define KYMO_ARGS_9 KYMO_ARGS_8, a8
#define KYMO_ARGS_10 KYMO_ARGS_9, a9
#define KYMO_ARGS_11 KYMO_ARGS_10, a10
#define KYMO_ARGS_12 KYMO_ARGS_11, a11

#endif  // KYMO_BACKENDS_MPI_TARGET_CALLS_H_
