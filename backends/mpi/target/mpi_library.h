// mpi_library.h - the MPI library that the program uses: functions and ABI.
//
//   const auto send = FindFunction<6>("MPI_Send", __builtin_return_address(0));
//   if (comm == Abi().comm_world) ...
//
// Handles (MPI_Comm and its like) are pointers in Open MPI and integers in
// MPICH, and in what has MPICH's ABI (Intel MPI, MVAPICH). Both go through a
// register, so one object serves both: an argument is a Word here, and a
// handle of MPICH is the lower half of it. Both calling conventions that Kymo
// knows (System V of x86-64, AAPCS64) pass every integer and pointer in eight
// bytes, so a call is forwarded without its C types.
//
// Threads: any. Errors: a program may look for MPI by its symbols and find
//   ours, though it has no MPI library. Such a call returns an error, and a
//   message says so once.
#ifndef KYMO_BACKENDS_MPI_TARGET_MPI_LIBRARY_H_
#define KYMO_BACKENDS_MPI_TARGET_MPI_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kymo::mpi {

using Word = uintptr_t;

// The values of one implementation's mpi.h that calls are read by.
struct AbiValues {
  uint8_t handle_bytes = 8;  // in arrays of handles
  Word comm_world = 0;
  Word comm_self = 0;
  Word comm_null = 0;
  Word request_null = 0;
  Word request_complete = 0;  // of sends that need no wait; 0: no such object
  Word type_byte = 0;
  Word type_null = 0;
  Word in_place = 0;       // MPI_IN_PLACE
  Word status_ignore = 0;  // MPI_STATUSES_IGNORE, too
  // MPI_Status.
  uint8_t status_bytes = 0;
  uint8_t source_offset = 0;
  uint8_t tag_offset = 0;
  uint8_t error_offset = 0;
  // Classes of errors.
  int error_truncate = 0;
  int error_in_status = 0;
};

// REQUIRES: FindFunction was called before.
const AbiValues& Abi() noexcept;

// A handle as it is compared: without what a register has above an int.
inline Word Handle(Word word) noexcept {
  return Abi().handle_bytes == 4 ? static_cast<uint32_t>(word) : word;
}

// The handle at `index` of an array of the program.
inline Word HandleAt(Word array, int64_t index) noexcept {
  if (Abi().handle_bytes == 4) return reinterpret_cast<uint32_t*>(array)[index];
  return reinterpret_cast<Word*>(array)[index];
}

namespace internal {
template <size_t>
using AWord = Word;
template <typename Indices>
struct FunctionOf;
template <size_t... kIndex>
struct FunctionOf<std::index_sequence<kIndex...>> {
  using Type = Word (*)(AWord<kIndex>...);
};
}  // namespace internal

template <size_t kArity>
using MpiFunction =
    typename internal::FunctionOf<std::make_index_sequence<kArity>>::Type;

// The function of that name that the code at `caller` would call without us.
// Null: no library of the program has it.
void* FindAddress(const char* name, const void* caller) noexcept;

// Says once that the program calls `name` and has no MPI library.
void SayNoLibrary(const char* name) noexcept;

inline constexpr Word kNoLibrary = 16;  // MPI_ERR_OTHER of Open MPI

// Keeps the function in `found`. If there is none, it returns one that fails
// and keeps nothing: the program may load a library later.
template <size_t kArity>
MpiFunction<kArity> FindFunction(const char* name, const void* caller,
                                 MpiFunction<kArity>& found) noexcept {
  found = reinterpret_cast<MpiFunction<kArity>>(FindAddress(name, caller));
  if (found != nullptr) return found;
  SayNoLibrary(name);
  return []<size_t... kIndex>(std::index_sequence<kIndex...>)
      ->MpiFunction<kArity> {
    return [](internal::AWord<kIndex>...) -> Word { return kNoLibrary; };
  }
  (std::make_index_sequence<kArity>());
}

// A function of the library for our own use, such as PMPI_Comm_rank: no tool
// sees the call. Null if the library does not have it.
template <size_t kArity>
class OwnFunction {
 public:
  explicit constexpr OwnFunction(const char* name) noexcept : name_(name) {}
  template <typename... Args>
  int operator()(Args... args) noexcept {
    static_assert(sizeof...(Args) == kArity);
    if (function_ == nullptr) {
      function_ = reinterpret_cast<MpiFunction<kArity>>(FindOwn(name_));
      if (function_ == nullptr) return -1;
    }
    return static_cast<int>(function_((Word)args...));
  }

 private:
  static void* FindOwn(const char* name) noexcept;

  const char* const name_;
  MpiFunction<kArity> function_ = nullptr;
};

void* FindOwnAddress(const char* name) noexcept;

template <size_t kArity>
void* OwnFunction<kArity>::FindOwn(const char* name) noexcept {
  return FindOwnAddress(name);
}

inline constexpr int kSuccess = 0;  // MPI_SUCCESS of every implementation

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_MPI_LIBRARY_H_
