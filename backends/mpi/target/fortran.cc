// fortran.cc - the calls of a program in Fortran.
//
// The Fortran functions (mpi_send_, mpi_send_f08_) of a library make the
// handles and the constants those of C, and then call the function of C, but
// by its other name, PMPI_Send, which tools do not see. So this library stands
// before these as well. What comes from a library with Fortran functions goes
// to MPI_Send here. What others call PMPI_Send for, a tool or the MPI library
// itself, is nobody's business.
#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "backends/mpi/target/call.h"
#include "backends/mpi/target/calls.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/wrap.h"

namespace kymo::mpi {
namespace {

// A library or program that has called a PMPI function.
struct Caller {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // 0: not there yet
  bool is_fortran = false;
};

// Beyond these, each call finds out again.
constexpr int kMostCallers = 16;
constinit Caller callers[kMostCallers];
constinit std::atomic<int> caller_count{0};

struct Extent {
  uintptr_t address;  // in it
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Of the library that has the address.
int FindExtent(dl_phdr_info* info, size_t, void* data) noexcept {
  Extent& found = *static_cast<Extent*>(data);
  Extent whole = {.address = found.address, .begin = ~uintptr_t{0}};
  bool is_here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    const uintptr_t end = begin + part.p_memsz;
    is_here |= begin <= found.address && found.address < end;
    if (begin < whole.begin) whole.begin = begin;
    if (end > whole.end) whole.end = end;
  }
  if (is_here) found = whole;
  return is_here ? 1 : 0;
}

// Whether the library that has the address defines MPI_Init of Fortran.
bool HasFortran(const void* address) noexcept {
  Dl_info caller;
  if (dladdr(address, &caller) == 0 || caller.dli_fname == nullptr) {
    return false;
  }
  void* const handle = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  bool is_fortran = false;
  for (const char* name : {"mpi_init_", "mpi_init_f08_"}) {
    void* const function = dlsym(handle, name);
    Dl_info found;
    is_fortran |= function != nullptr && dladdr(function, &found) != 0 &&
                  found.dli_fbase == caller.dli_fbase;
  }
  dlclose(handle);
  return is_fortran;
}

bool LearnWhetherFortran(const void* address) noexcept {
  Extent extent = {.address = reinterpret_cast<uintptr_t>(address)};
  dl_iterate_phdr(FindExtent, &extent);
  const bool is_fortran = HasFortran(address);
  if (extent.end == 0) return is_fortran;
  // Threads that come here together add the same twice.
  const int place = caller_count.load(std::memory_order_relaxed) < kMostCallers
                        ? caller_count.fetch_add(1, std::memory_order_relaxed)
                        : kMostCallers;
  if (place >= kMostCallers) return is_fortran;
  callers[place].is_fortran = is_fortran;
  callers[place].begin.store(extent.begin, std::memory_order_relaxed);
  callers[place].end.store(extent.end, std::memory_order_release);
  return is_fortran;
}

// Whether the code at the address is that of Fortran functions of MPI.
bool IsFortran(const void* address) noexcept {
  const uintptr_t asked = reinterpret_cast<uintptr_t>(address);
  for (const Caller& caller : callers) {
    const uintptr_t end = caller.end.load(std::memory_order_acquire);
    if (end == 0) break;
    if (asked < end && caller.begin.load(std::memory_order_relaxed) <= asked) {
      return caller.is_fortran;
    }
  }
  return LearnWhetherFortran(address);
}

}  // namespace

#define KYMO_PMPI(NAME, ARITY, ROLES)                           \
  extern "C" Word MPI_##NAME(KYMO_PARAMS_##ARITY);              \
  KYMO_EXPORT Word PMPI_##NAME(KYMO_PARAMS_##ARITY) {           \
    KYMO_REAL_OF("PMPI_" #NAME, ARITY)                          \
    const bool is_program =                                     \
        !IsInCall() && IsFortran(__builtin_return_address(0));  \
    return (is_program ? MPI_##NAME : real)(KYMO_ARGS_##ARITY); \
  }

KYMO_MPI_MESSAGES(KYMO_PMPI)
KYMO_MPI_PERSISTENT(KYMO_PMPI)
KYMO_MPI_COLLECTIVES(KYMO_PMPI)
KYMO_MPI_OTHERS(KYMO_PMPI)
KYMO_MPI_MAKES_SHARED(KYMO_PMPI)
KYMO_MPI_FREES_SHARED(KYMO_PMPI)
KYMO_MPI_MAKES_COMMUNICATOR(KYMO_PMPI)

// The functions of completion.cc and lifetime.cc.
KYMO_PMPI(Init, 2, )
KYMO_PMPI(Init_thread, 4, )
KYMO_PMPI(Wait, 2, )
KYMO_PMPI(Waitall, 3, )
KYMO_PMPI(Waitany, 4, )
KYMO_PMPI(Waitsome, 5, )
KYMO_PMPI(Test, 3, )
KYMO_PMPI(Testall, 4, )
KYMO_PMPI(Testany, 5, )
KYMO_PMPI(Testsome, 5, )
KYMO_PMPI(Start, 1, )
KYMO_PMPI(Startall, 2, )
KYMO_PMPI(Request_free, 1, )
KYMO_PMPI(Cancel, 1, )
KYMO_PMPI(Improbe, 6, )
KYMO_PMPI(Comm_idup, 3, )
KYMO_PMPI(Comm_idup_with_info, 4, )
KYMO_PMPI(Abort, 2, )
KYMO_PMPI(Comm_free, 1, )
KYMO_PMPI(Comm_disconnect, 1, )
KYMO_PMPI(Comm_set_name, 2, )
KYMO_PMPI(Win_set_name, 2, )
KYMO_PMPI(Type_free, 1, )
KYMO_PMPI(Comm_get_parent, 1, )

extern "C" int MPI_Finalize();
KYMO_EXPORT int PMPI_Finalize() {
  KYMO_REAL_OF("PMPI_Finalize", 0)
  const bool is_program = !IsInCall() && IsFortran(__builtin_return_address(0));
  return is_program ? MPI_Finalize() : static_cast<int>(real());
}

extern "C" int MPI_Pcontrol(const int level, ...);
KYMO_EXPORT int PMPI_Pcontrol(const int level, ...) {
  if (IsFortran(__builtin_return_address(0))) return MPI_Pcontrol(level);
  return kSuccess;
}

}  // namespace kymo::mpi
