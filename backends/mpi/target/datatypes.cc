#include "backends/mpi/target/datatypes.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace kymo::mpi {

constexpr size_t kKept = 32;
// Hidden, not local: see tools/dev/check_sources.py.
__attribute__((
    visibility("hidden"))) constinit thread_local Datatype kept[kKept]
    __attribute__((tls_model("initial-exec")));

namespace {

constinit std::atomic<uint32_t> generation{1};

constinit OwnFunction<2> type_size("PMPI_Type_size");
constinit OwnFunction<3> type_get_name("PMPI_Type_get_name");

Datatype& Place(Word handle) noexcept {
  return kept[handle * 0x9e3779b97f4a7c15u >> (64 - 5)];
}

void Read(Word handle, Datatype& type) noexcept {
  type.handle = handle;
  type.size = 0;
  if (type_size(handle, &type.size) != kSuccess || type.size < 0) {
    type.size = 0;
  }
  char name[512] = "";
  int size = 0;
  if (type_get_name(handle, name, &size) != kSuccess) size = 0;
  std::string_view text(name, std::clamp(size, 0, int{sizeof(name)} - 1));
  if (text.starts_with("MPI_")) text.remove_prefix(4);
  text = text.substr(0, sizeof(type.name));
  memcpy(type.name, text.data(), text.size());
  type.name_size = static_cast<uint8_t>(text.size());
}

}  // namespace

const Datatype* KnownDatatype(Word handle) noexcept {
  handle = Handle(handle);
  const Datatype& type = Place(handle);
  const bool is_known =
      type.handle == handle &&
      type.generation == generation.load(std::memory_order_acquire);
  return is_known ? &type : nullptr;
}

const Datatype& ReadDatatype(Word handle) noexcept {
  handle = Handle(handle);
  Datatype& type = Place(handle);
  type.generation = generation.load(std::memory_order_acquire);
  Read(handle, type);
  return type;
}

void ForgetDatatypes() noexcept {
  generation.fetch_add(1, std::memory_order_release);
}

}  // namespace kymo::mpi
