// datatypes.h - size and name of a datatype, as messages need them.
//
//   const Datatype* type = KnownDatatype(handle);    // 2 ns
//   result = send(...);
//   if (type == nullptr && result == kSuccess) type = &ReadDatatype(handle);
//
// Each thread keeps the types that it used last. The library ends the program
// if it is asked about a handle that is no type. So it is asked only about
// types with which a call has succeeded.
#ifndef KYMO_BACKENDS_MPI_TARGET_DATATYPES_H_
#define KYMO_BACKENDS_MPI_TARGET_DATATYPES_H_

#include <cstdint>
#include <string_view>

#include "backends/mpi/target/mpi_library.h"

namespace kymo::mpi {

struct Datatype {
  Word handle = 0;
  uint32_t generation = 0;
  int size = 0;  // bytes; 0: not known
  uint8_t name_size = 0;
  char name[24] = {};  // cut to fit; without "MPI_" in front

  std::string_view Name() const noexcept { return {name, name_size}; }
};

// Both hold until the thread asks for another type. Null: not seen lately.
const Datatype* KnownDatatype(Word handle) noexcept;
const Datatype& ReadDatatype(Word handle) noexcept;

// A handle was freed, so it may come to mean another type.
void ForgetDatatypes() noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_DATATYPES_H_
