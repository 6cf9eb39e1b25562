// wrappers.cc - the functions of MPI that stand before the library's.
//
// The library that the program loads defines the same names. Ours come first,
// because the loader preloads this library, and call the next ones: another
// tool's, if there is one, else the library's.
#include "backends/mpi/target/call.h"
#include "backends/mpi/target/calls.h"
#include "backends/mpi/target/communicators.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/wrap.h"

namespace kymo::mpi {
namespace {

// Calls `real(args...)`, in a range if somebody records.
template <typename Real, typename... Words>
__attribute__((always_inline)) inline Word Recorded(const CallInfo& info,
                                                    Real real,
                                                    Words... words) noexcept {
  if (!IsRecording()) [[likely]]
    return real(words...);
  Word args[] = {words...};
  Call call(info, args);
  const Word result = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return real(args[kIndex]...);
  }
  (std::make_index_sequence<sizeof...(Words)>());
  call.End(result);
  return result;
}

// The same for calls that make a communicator. These are noticed also while
// nobody records: ids of communicators count them.
template <typename Real, typename... Words>
__attribute__((always_inline)) inline Word MakesCommunicator(
    const CallInfo& info, Real real, Words... words) noexcept {
  const bool is_outer = !IsInCall();
  const Word result = Recorded(info, real, words...);
  if (is_outer && static_cast<int>(result) == kSuccess) {
    const Word args[] = {words...};
    AddCommunicator(HandleAt(args[info.Place('k')], 0));
  }
  return result;
}

// The same for windows and files.
template <typename Real, typename... Words>
__attribute__((always_inline)) inline Word MakesShared(
    const CallInfo& info, Real real, Words... words) noexcept {
  const bool is_outer = !IsInCall();
  const Word result = Recorded(info, real, words...);
  if (is_outer && static_cast<int>(result) == kSuccess) {
    const Word args[] = {words...};
    AddShared(SharedKeyOf(info, args, "pq"), args[info.Place('c')],
              info.Place('p') >= 0 ? "window" : "file");
  }
  return result;
}

template <typename Real, typename... Words>
__attribute__((always_inline)) inline Word FreesShared(
    const CallInfo& info, Real real, Words... words) noexcept {
  const bool is_outer = !IsInCall();
  const Word args[] = {words...};
  const Word freed = SharedKeyOf(info, args, "PQ");
  const Word result = Recorded(info, real, words...);
  if (is_outer && static_cast<int>(result) == kSuccess) RemoveShared(freed);
  return result;
}

}  // namespace

// CALL is one of the functions above.
#define KYMO_WRAP(NAME, ARITY, ROLES, PERSISTENT, CALL)               \
  KYMO_EXPORT Word MPI_##NAME(KYMO_PARAMS_##ARITY) {                  \
    static constexpr CallInfo kInfo("MPI_" #NAME, ROLES, PERSISTENT); \
    static_assert(sizeof(ROLES) == ARITY + 1);                        \
    KYMO_REAL(NAME, ARITY)                                            \
    return CALL(kInfo, real, KYMO_ARGS_##ARITY);                      \
  }

#define KYMO_WRAP_ONCE(NAME, ARITY, ROLES) \
  KYMO_WRAP(NAME, ARITY, ROLES, false, Recorded)
#define KYMO_WRAP_KEPT(NAME, ARITY, ROLES) \
  KYMO_WRAP(NAME, ARITY, ROLES, true, Recorded)
#define KYMO_WRAP_MAKER(NAME, ARITY, ROLES) \
  KYMO_WRAP(NAME, ARITY, ROLES, false, MakesCommunicator)
#define KYMO_WRAP_SHARED(NAME, ARITY, ROLES) \
  KYMO_WRAP(NAME, ARITY, ROLES, false, MakesShared)
#define KYMO_WRAP_FREE(NAME, ARITY, ROLES) \
  KYMO_WRAP(NAME, ARITY, ROLES, false, FreesShared)

KYMO_MPI_MESSAGES(KYMO_WRAP_ONCE)
KYMO_MPI_PERSISTENT(KYMO_WRAP_KEPT)
KYMO_MPI_COLLECTIVES(KYMO_WRAP_ONCE)
KYMO_MPI_OTHERS(KYMO_WRAP_ONCE)
KYMO_MPI_MAKES_COMMUNICATOR(KYMO_WRAP_MAKER)
KYMO_MPI_MAKES_SHARED(KYMO_WRAP_SHARED)
KYMO_MPI_FREES_SHARED(KYMO_WRAP_FREE)

}  // namespace kymo::mpi
