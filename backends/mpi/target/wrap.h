// wrap.h - what every function that stands before one of MPI begins with.
//
//   KYMO_EXPORT Word MPI_Start(Word request) {
//     KYMO_REAL(Start, 1)
//     return real(request);
//   }
//
// The real function is looked up once. Threads that do so together write the
// same address.
#ifndef KYMO_BACKENDS_MPI_TARGET_WRAP_H_
#define KYMO_BACKENDS_MPI_TARGET_WRAP_H_

#include "backends/mpi/target/mpi_library.h"

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

#define KYMO_REAL(NAME, ARITY) KYMO_REAL_OF("MPI_" #NAME, ARITY)

#define KYMO_REAL_OF(NAME, ARITY)                                   \
  static constinit ::kymo::mpi::MpiFunction<ARITY> found = nullptr; \
  const ::kymo::mpi::MpiFunction<ARITY> real =                      \
      found != nullptr ? found                                      \
                       : ::kymo::mpi::FindFunction<ARITY>(          \
                             NAME, __builtin_return_address(0), found);

#endif  // KYMO_BACKENDS_MPI_TARGET_WRAP_H_
