// mpi_backend.h - the `mpi` backend: calls of MPI, messages and requests.
//
// It preloads a library into the child that stands before the functions of the
// child's MPI (target/). The records stand in the stream of the thread that
// calls (backends/stream), beside the program's own ranges.
//
// A recording whose user named no activity has it if an mpirun started the
// command. Not for this process.
#ifndef KYMO_BACKENDS_MPI_MPI_BACKEND_H_
#define KYMO_BACKENDS_MPI_MPI_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewMpiBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_MPI_MPI_BACKEND_H_
