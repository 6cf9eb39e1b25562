// datatypes.h - size and name of a datatype, as messages need them.
//
//   const Datatype& type = DatatypeOf(handle);       // 2 ns if seen lately
//   int64_t bytes = count * type.size;
//
// Each thread keeps the types that it used last.
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

// The reference holds until the thread asks for another type.
const Datatype& DatatypeOf(Word handle) noexcept;

// A handle was freed, so it may come to mean another type.
void ForgetDatatypes() noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_DATATYPES_H_
