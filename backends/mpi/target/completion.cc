// completion.cc - the functions that begin, complete and free requests, and
// those whose result comes later.
//
// What a call completes ends together with its range: so it can be told later
// which call has waited for it. MPI_Test and its like are no ranges of their
// own: programs poll with them.
#include "backends/mpi/target/call.h"
#include "backends/mpi/target/communicators.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/requests.h"
#include "backends/mpi/target/room.h"
#include "backends/mpi/target/wrap.h"

namespace kymo::mpi {
namespace {

// The requests of an array before a call, which overwrites their handles, and
// statuses where the program wants none.
class Batch {
 public:
  Batch(int count, Word requests, Word* statuses, Look look) noexcept
      : count_(record::IsOn() && count > 0 ? count : 0),
        room_(size_t(count_) * (sizeof(OpenRequest) + kStatusBytes)) {
    if (count_ == 0 || room_.data() == nullptr) {
      count_ = 0;
      return;
    }
    open_ = reinterpret_cast<OpenRequest*>(room_.data());
    for (int i = 0; i < count_; ++i) new (&open_[i]) OpenRequest;
    FindRequests(requests, count_, look, open_);
    if (*statuses == Abi().status_ignore) {
      *statuses = reinterpret_cast<Word>(open_ + count_);
    }
    statuses_ = *statuses;
    requests_ = requests;
  }

  // The call that returned `result` has found the request at `index` complete,
  // or has failed; the request's status is the one at `status`.
  void End(Word result, int index, int status, uint64_t ticks) noexcept {
    if (index < 0 || index >= count_) return;
    const char* const found = reinterpret_cast<const char*>(statuses_) +
                              size_t{Abi().status_bytes} * status;
    int error = static_cast<int>(result);
    if (IsErrorClass(error, Abi().error_in_status)) error = StatusError(found);
    if (HasMessage(error)) {
      CompleteRequest(open_[index], found, ticks);
    } else if (HandleAt(requests_, index) == Abi().request_null) {
      FailRequest(open_[index], error, ticks);
    }
  }

  void EndAll(Word result, uint64_t ticks) noexcept {
    for (int i = 0; i < count_; ++i) End(result, i, i, ticks);
  }

 private:
  // A status of any implementation.
  static constexpr size_t kStatusBytes = 24;

  int count_;
  Room room_;
  OpenRequest* open_ = nullptr;
  Word statuses_ = 0;
  Word requests_ = 0;
};

int IntAt(Word address, int index = 0) noexcept {
  return reinterpret_cast<const int*>(address)[index];
}

bool IsDone(Word result) noexcept {
  return static_cast<int>(result) == kSuccess;
}

// How many requests MPI_Waitsome has completed.
int CountOf(Word result, Word out_count) noexcept {
  const bool is_known = IsDone(result) || IsErrorClass(static_cast<int>(result),
                                                       Abi().error_in_status);
  return is_known ? IntAt(out_count) : 0;
}

}  // namespace

KYMO_EXPORT Word MPI_Wait(Word request, Word status) {
  KYMO_REAL(Wait, 2)
  if (!IsRecording()) return real(request, status);
  Batch batch(1, request, &status, Look::kWaits);
  PlainCall call("MPI_Wait");
  const Word result = real(request, status);
  const uint64_t ticks = call.End();
  batch.EndAll(result, ticks);
  return result;
}

KYMO_EXPORT Word MPI_Waitall(Word count, Word requests, Word statuses) {
  KYMO_REAL(Waitall, 3)
  if (!IsRecording()) return real(count, requests, statuses);
  Batch batch(static_cast<int>(count), requests, &statuses, Look::kWaits);
  PlainCall call("MPI_Waitall");
  const Word result = real(count, requests, statuses);
  const uint64_t ticks = call.End();
  batch.EndAll(result, ticks);
  return result;
}

KYMO_EXPORT Word MPI_Waitany(Word count, Word requests, Word index,
                             Word status) {
  KYMO_REAL(Waitany, 4)
  if (!IsRecording()) return real(count, requests, index, status);
  Batch batch(static_cast<int>(count), requests, &status, Look::kWaits);
  PlainCall call("MPI_Waitany");
  const Word result = real(count, requests, index, status);
  const uint64_t ticks = call.End();
  batch.End(result, IntAt(index), 0, ticks);
  return result;
}

KYMO_EXPORT Word MPI_Waitsome(Word count, Word requests, Word out_count,
                              Word indices, Word statuses) {
  KYMO_REAL(Waitsome, 5)
  if (!IsRecording()) {
    return real(count, requests, out_count, indices, statuses);
  }
  Batch batch(static_cast<int>(count), requests, &statuses, Look::kWaits);
  PlainCall call("MPI_Waitsome");
  const Word result = real(count, requests, out_count, indices, statuses);
  const uint64_t ticks = call.End();
  for (int i = 0; i < CountOf(result, out_count); ++i) {
    batch.End(result, IntAt(indices, i), i, ticks);
  }
  return result;
}

KYMO_EXPORT Word MPI_Test(Word request, Word flag, Word status) {
  KYMO_REAL(Test, 3)
  if (!IsRecording()) return real(request, flag, status);
  Batch batch(1, request, &status, Look::kTests);
  const Word result = real(request, flag, status);
  if (!IsDone(result) || IntAt(flag) != 0) batch.EndAll(result, 0);
  return result;
}

KYMO_EXPORT Word MPI_Testall(Word count, Word requests, Word flag,
                             Word statuses) {
  KYMO_REAL(Testall, 4)
  if (!IsRecording()) return real(count, requests, flag, statuses);
  Batch batch(static_cast<int>(count), requests, &statuses, Look::kTests);
  const Word result = real(count, requests, flag, statuses);
  if (!IsDone(result) || IntAt(flag) != 0) batch.EndAll(result, 0);
  return result;
}

KYMO_EXPORT Word MPI_Testany(Word count, Word requests, Word index, Word flag,
                             Word status) {
  KYMO_REAL(Testany, 5)
  if (!IsRecording()) return real(count, requests, index, flag, status);
  Batch batch(static_cast<int>(count), requests, &status, Look::kTests);
  const Word result = real(count, requests, index, flag, status);
  // An index of none (MPI_UNDEFINED) is below 0.
  if (!IsDone(result) || IntAt(flag) != 0) {
    batch.End(result, IntAt(index), 0, 0);
  }
  return result;
}

KYMO_EXPORT Word MPI_Testsome(Word count, Word requests, Word out_count,
                              Word indices, Word statuses) {
  KYMO_REAL(Testsome, 5)
  if (!IsRecording()) {
    return real(count, requests, out_count, indices, statuses);
  }
  Batch batch(static_cast<int>(count), requests, &statuses, Look::kTests);
  const Word result = real(count, requests, out_count, indices, statuses);
  for (int i = 0; i < CountOf(result, out_count); ++i) {
    batch.End(result, IntAt(indices, i), i, 0);
  }
  return result;
}

KYMO_EXPORT Word MPI_Start(Word request) {
  KYMO_REAL(Start, 1)
  if (IsRecording()) StartRequest(HandleAt(request, 0));
  return real(request);
}

KYMO_EXPORT Word MPI_Startall(Word count, Word requests) {
  KYMO_REAL(Startall, 2)
  for (int i = 0; IsRecording() && i < static_cast<int>(count); ++i) {
    StartRequest(HandleAt(requests, i));
  }
  return real(count, requests);
}

KYMO_EXPORT Word MPI_Request_free(Word request) {
  KYMO_REAL(Request_free, 1)
  FreeRequest(HandleAt(request, 0));
  return real(request);
}

KYMO_EXPORT Word MPI_Cancel(Word request) {
  KYMO_REAL(Cancel, 1)
  NoteCancel();
  CancelRequest(HandleAt(request, 0));
  return real(request);
}

// Programs poll with it, as with MPI_Test.
KYMO_EXPORT Word MPI_Improbe(Word source, Word tag, Word comm, Word flag,
                             Word message, Word status) {
  KYMO_REAL(Improbe, 6)
  const Word result = real(source, tag, comm, flag, message, status);
  if (!IsRecording() || !IsDone(result) || IntAt(flag) == 0) return result;
  Request probe;
  AddCommunicator(comm);
  if (!FindPeers(Handle(comm), probe)) return result;
  probe.message = NewMessageNumber();
  const record::Arg args[] = {{"message", probe.message}};
  record::RecordInstant("MPI_Improbe", {}, args, 1);
  AddMessage(HandleAt(message, 0), probe);
  return result;
}

// The new communicator can be used when the request is complete.
static Word DupLater(record::Literal name, Word comm, Word new_comm,
                     Word request, Word result) noexcept {
  if (!IsDone(result)) return result;
  Request begun = {.name = name, .new_comm = new_comm};
  begun.place = ReservePlace(comm);
  if (FindPeers(Handle(comm), begun)) BeginRequest(HandleAt(request, 0), begun);
  return result;
}

KYMO_EXPORT Word MPI_Comm_idup(Word comm, Word new_comm, Word request) {
  KYMO_REAL(Comm_idup, 3)
  const Word result = real(comm, new_comm, request);
  return DupLater("MPI_Comm_idup", comm, new_comm, request, result);
}

KYMO_EXPORT Word MPI_Comm_idup_with_info(Word comm, Word info, Word new_comm,
                                         Word request) {
  KYMO_REAL(Comm_idup_with_info, 4)
  const Word result = real(comm, info, new_comm, request);
  return DupLater("MPI_Comm_idup_with_info", comm, new_comm, request, result);
}

}  // namespace kymo::mpi
