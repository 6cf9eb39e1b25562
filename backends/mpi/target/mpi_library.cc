#include "backends/mpi/target/mpi_library.h"

#include <dlfcn.h>
#include <stdio.h>

#include <atomic>

namespace kymo::mpi {
namespace {

// What finds the library's functions: a handle of dlopen or RTLD_NEXT.
constinit std::atomic<void*> library{nullptr};
constinit AbiValues abi;

void ReadAbi(void* handle) noexcept {
  // The linker may have copied an object into the program, whose copy counts.
  const auto object = [handle](const char* name) {
    void* const copy = dlsym(RTLD_DEFAULT, name);
    return reinterpret_cast<Word>(copy != nullptr ? copy : dlsym(handle, name));
  };
  if (object("ompi_mpi_comm_world") != 0) {
    abi = {.handle_bytes = sizeof(void*),
           .comm_world = object("ompi_mpi_comm_world"),
           .comm_self = object("ompi_mpi_comm_self"),
           .comm_null = object("ompi_mpi_comm_null"),
           .request_null = object("ompi_request_null"),
           .request_complete = object("ompi_request_empty"),
           .type_byte = object("ompi_mpi_byte"),
           .type_null = object("ompi_mpi_datatype_null"),
           .in_place = 1,
           .status_ignore = 0,
           .status_bytes = 24,
           .source_offset = 0,
           .tag_offset = 4,
           .error_offset = 8,
           .error_truncate = 15,
           .error_in_status = 18};
    return;
  }
  abi = {.handle_bytes = 4,
         .comm_world = 0x44000000,
         .comm_self = 0x44000001,
         .comm_null = 0x04000000,
         .request_null = 0x2c000000,
         .type_byte = 0x4c00010d,
         .type_null = 0x0c000000,
         .in_place = ~Word{0},
         .status_ignore = 1,
         .status_bytes = 20,
         .source_offset = 8,
         .tag_offset = 12,
         .error_offset = 16,
         .error_truncate = 14,
         .error_in_status = 17};
}

// The library that the code at `caller` was linked with. A program may have
// loaded it for itself alone, as Python loads its modules.
void* LibraryOf(const void* caller) noexcept {
  if (dlsym(RTLD_NEXT, "PMPI_Comm_rank") != nullptr) return RTLD_NEXT;
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void* Library(const void* caller) noexcept {
  void* handle = library.load(std::memory_order_acquire);
  if (handle != nullptr) return handle;
  handle = LibraryOf(caller);
  if (handle == nullptr) return nullptr;
  // Threads that come here together write the same.
  ReadAbi(handle);
  library.store(handle, std::memory_order_release);
  return handle;
}

}  // namespace

const AbiValues& Abi() noexcept { return abi; }

void* FindAddress(const char* name, const void* caller) noexcept {
  void* const handle = Library(caller);
  void* address = nullptr;
  if (handle != nullptr) {
    address = dlsym(handle, name);
    // Another tool's function or the library's; never our own, which a handle
    // of the program's would find.
    Dl_info ours;
    Dl_info found;
    if (address != nullptr && handle != RTLD_NEXT &&
        dladdr(reinterpret_cast<void*>(&ReadAbi), &ours) != 0 &&
        dladdr(address, &found) != 0 && ours.dli_fbase == found.dli_fbase) {
      address = nullptr;
    }
    char pmpi[64];
    if (address == nullptr && name[0] == 'M') {
      snprintf(pmpi, sizeof(pmpi), "P%s", name);
      address = dlsym(handle, pmpi);
    }
  }
  return address;
}

void SayNoLibrary(const char* name) noexcept {
  static constinit std::atomic<bool> is_said{false};
  if (is_said.exchange(true, std::memory_order_relaxed)) return;
  fprintf(stderr,
          "kymo: the program calls %s and has no MPI library with it, so the "
          "call fails; record the program with --mpi_capture=0\n",
          name);
}

void* FindOwnAddress(const char* name) noexcept {
  void* const handle = library.load(std::memory_order_acquire);
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

}  // namespace kymo::mpi
