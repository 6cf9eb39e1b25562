// completion.cc - the functions that begin, complete and free requests.
//
// MPI_Test and its like are no ranges of their own: programs poll with them.
// What they complete ends as in MPI_Wait.
#include <algorithm>

#include "backends/mpi/target/call.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/requests.h"

namespace kymo::mpi {
namespace {

constexpr int kUndefined = -32766;  // MPI_UNDEFINED of every implementation
// A longer array of requests is handled in the program's own memory.
constexpr int kMostOnStack = 256;

// The handles of an array before a call, which overwrites them, and statuses
// where the program wants none.
class Batch {
 public:
  Batch(int count, Word requests, Word* statuses) noexcept
      : count_(count), is_kept_(record::IsOn() && count > 0) {
    if (!is_kept_) return;
    // The first ones of a longer array; the others end at the next use of
    // their handle.
    const int kept = std::min(count, kMostOnStack);
    for (int i = 0; i < kept; ++i) handles_[i] = HandleAt(requests, i);
    if (*statuses == Abi().status_ignore && count <= kMostOnStack) {
      *statuses = reinterpret_cast<Word>(room_);
    }
    statuses_ = *statuses;
  }

  // The request at `index` is complete; its status is the one at `status`.
  void Complete(int index, int status) noexcept {
    if (!is_kept_ || index < 0 || index >= std::min(count_, kMostOnStack)) {
      return;
    }
    CompleteRequest(handles_[index], StatusAt(status));
  }

  void CompleteAll() noexcept {
    for (int i = 0; is_kept_ && i < std::min(count_, kMostOnStack); ++i) {
      Complete(i, i);
    }
  }

 private:
  const void* StatusAt(int index) const noexcept {
    if (statuses_ == Abi().status_ignore) return nullptr;
    return reinterpret_cast<const char*>(statuses_) +
           size_t{Abi().status_bytes} * index;
  }

  const int count_;
  const bool is_kept_;
  Word statuses_ = 0;
  Word handles_[kMostOnStack];
  // Room for as many statuses of any implementation.
  alignas(8) char room_[kMostOnStack * 24];
};

int IntAt(Word address, int index = 0) noexcept {
  return reinterpret_cast<const int*>(address)[index];
}

bool IsDone(Word result) noexcept {
  return static_cast<int>(result) == kSuccess;
}

}  // namespace

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))
#define KYMO_REAL(NAME, ARITY)                                            \
  static constinit MpiFunction<ARITY> real = nullptr;                     \
  if (real == nullptr) [[unlikely]] {                                     \
    real = FindFunction<ARITY>("MPI_" NAME, __builtin_return_address(0)); \
  }

KYMO_EXPORT Word MPI_Wait(Word request, Word status) {
  KYMO_REAL("Wait", 2)
  if (!IsRecording()) return real(request, status);
  Batch batch(1, request, &status);
  const Word result = [&] {
    const PlainCall call("MPI_Wait");
    return real(request, status);
  }();
  if (IsDone(result)) batch.CompleteAll();
  return result;
}

KYMO_EXPORT Word MPI_Waitall(Word count, Word requests, Word statuses) {
  KYMO_REAL("Waitall", 3)
  if (!IsRecording()) return real(count, requests, statuses);
  Batch batch(static_cast<int>(count), requests, &statuses);
  const Word result = [&] {
    const PlainCall call("MPI_Waitall");
    return real(count, requests, statuses);
  }();
  if (IsDone(result)) batch.CompleteAll();
  return result;
}

KYMO_EXPORT Word MPI_Waitany(Word count, Word requests, Word index,
                             Word status) {
  KYMO_REAL("Waitany", 4)
  if (!IsRecording()) return real(count, requests, index, status);
  Batch batch(static_cast<int>(count), requests, &status);
  const Word result = [&] {
    const PlainCall call("MPI_Waitany");
    return real(count, requests, index, status);
  }();
  if (IsDone(result)) batch.Complete(IntAt(index), 0);
  return result;
}

KYMO_EXPORT Word MPI_Waitsome(Word count, Word requests, Word out_count,
                              Word indices, Word statuses) {
  KYMO_REAL("Waitsome", 5)
  if (!IsRecording()) {
    return real(count, requests, out_count, indices, statuses);
  }
  Batch batch(static_cast<int>(count), requests, &statuses);
  const Word result = [&] {
    const PlainCall call("MPI_Waitsome");
    return real(count, requests, out_count, indices, statuses);
  }();
  for (int i = 0; IsDone(result) && i < IntAt(out_count); ++i) {
    batch.Complete(IntAt(indices, i), i);
  }
  return result;
}

KYMO_EXPORT Word MPI_Test(Word request, Word flag, Word status) {
  KYMO_REAL("Test", 3)
  if (!IsRecording()) return real(request, flag, status);
  Batch batch(1, request, &status);
  const Word result = real(request, flag, status);
  if (IsDone(result) && IntAt(flag) != 0) batch.CompleteAll();
  return result;
}

KYMO_EXPORT Word MPI_Testall(Word count, Word requests, Word flag,
                             Word statuses) {
  KYMO_REAL("Testall", 4)
  if (!IsRecording()) return real(count, requests, flag, statuses);
  Batch batch(static_cast<int>(count), requests, &statuses);
  const Word result = real(count, requests, flag, statuses);
  if (IsDone(result) && IntAt(flag) != 0) batch.CompleteAll();
  return result;
}

KYMO_EXPORT Word MPI_Testany(Word count, Word requests, Word index, Word flag,
                             Word status) {
  KYMO_REAL("Testany", 5)
  if (!IsRecording()) return real(count, requests, index, flag, status);
  Batch batch(static_cast<int>(count), requests, &status);
  const Word result = real(count, requests, index, flag, status);
  if (IsDone(result) && IntAt(flag) != 0 && IntAt(index) != kUndefined) {
    batch.Complete(IntAt(index), 0);
  }
  return result;
}

KYMO_EXPORT Word MPI_Testsome(Word count, Word requests, Word out_count,
                              Word indices, Word statuses) {
  KYMO_REAL("Testsome", 5)
  if (!IsRecording()) {
    return real(count, requests, out_count, indices, statuses);
  }
  Batch batch(static_cast<int>(count), requests, &statuses);
  const Word result = real(count, requests, out_count, indices, statuses);
  for (int i = 0; IsDone(result) && i < IntAt(out_count); ++i) {
    batch.Complete(IntAt(indices, i), i);
  }
  return result;
}

KYMO_EXPORT Word MPI_Start(Word request) {
  KYMO_REAL("Start", 1)
  if (IsRecording()) StartRequest(HandleAt(request, 0));
  return real(request);
}

KYMO_EXPORT Word MPI_Startall(Word count, Word requests) {
  KYMO_REAL("Startall", 2)
  for (int i = 0; IsRecording() && i < static_cast<int>(count); ++i) {
    StartRequest(HandleAt(requests, i));
  }
  return real(count, requests);
}

KYMO_EXPORT Word MPI_Request_free(Word request) {
  KYMO_REAL("Request_free", 1)
  CompleteRequest(HandleAt(request, 0), nullptr);
  return real(request);
}

}  // namespace kymo::mpi
