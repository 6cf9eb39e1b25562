#include "backends/mpi/target/requests.h"

#include <atomic>
#include <cstddef>

#include "backends/mpi/target/communicators.h"
#include "backends/mpi/target/spin_lock.h"
#include "profiler/base/clock.h"
#include "profiler/record/captured.h"

namespace kymo::mpi {
namespace {

constexpr int kTableBits = 16;
constexpr size_t kMostRequests = size_t{1} << kTableBits;
constexpr size_t kMostEntriesProbed = 256;

struct Entry {
  Word handle = 0;  // 0: free
  uint64_t range = 0;
  bool is_waited_for = false;  // a call will end the range
  bool is_cancelled = false;   // until it is started again
  int64_t looked_ns = 0;       // when the program first polled; 0: it did not
  Request request;
};

constinit OwnFunction<3> request_get_status("PMPI_Request_get_status");

constinit Entry requests[kMostRequests];
constinit SpinLock requests_lock;
constinit std::atomic<uint64_t> lost{0};
constinit std::atomic<int64_t> messages_found{0};

size_t HomeOf(Word handle) noexcept {
  return handle * 0x9e3779b97f4a7c15u >> (64 - kTableBits);
}

// The entry of the handle, or the free one where it belongs. Null: the table is
// too full. REQUIRES: the lock is held, here and below.
Entry* EntryFor(Word handle) noexcept {
  for (size_t probe = 0; probe < kMostEntriesProbed; ++probe) {
    Entry& entry = requests[(HomeOf(handle) + probe) % kMostRequests];
    if (entry.handle == handle || entry.handle == 0) return &entry;
  }
  return nullptr;
}

Entry* FindEntry(Word handle) noexcept {
  Entry* const entry = EntryFor(handle);
  return entry == nullptr || entry->handle == 0 ? nullptr : entry;
}

// Moves the entries behind it forward, so that a search may end at a free one.
void EraseEntry(Entry* entry) noexcept {
  const size_t begin = entry - requests;
  size_t hole = begin;
  for (size_t step = 1; step < kMostRequests; ++step) {
    const size_t at = (begin + step) % kMostRequests;
    if (requests[at].handle == 0) break;
    const size_t home = HomeOf(requests[at].handle);
    if ((at - home) % kMostRequests < (at - hole) % kMostRequests) continue;
    requests[hole] = requests[at];
    hole = at;
  }
  requests[hole] = {};
}

// Whether the handle is the one that stands for every send that was complete
// when its call returned.
bool IsComplete(Word handle) noexcept {
  if (Abi().request_complete != 0) return handle == Abi().request_complete;
  // MPICH's objects that exist from the start have 01 in the two upper bits.
  return Abi().handle_bytes == 4 && handle >> 30 == 1;
}

uint64_t BeginRange(const Request& request, uint64_t ticks) noexcept {
  if (!record::IsOn()) return 0;
  const auto begin = [&](const record::CapturedArg* args, size_t count) {
    return record::BeginCapturedAsync(
        {.name = {.id = record::LiteralId(request.name)},
         .args = args,
         .arg_count = count},
        ticks);
  };
  if (request.direction == Direction::kSend) {
    const record::CapturedArg args[] = {
        record::IntArg("comm", request.comm_id),
        record::IntArg("to", request.peer),
        record::IntArg("tag", request.tag),
        record::IntArg("bytes", request.bytes),
        record::IntArg("from", request.from),
        record::IntArg("from_tag", request.from_tag)};
    return begin(args, request.from < 0 ? 4 : 6);
  }
  record::CapturedArg args[4] = {record::IntArg("comm", request.comm_id)};
  size_t count = 1;
  const auto add = [&](record::Literal key, int64_t value) {
    if (value >= 0) args[count++] = record::IntArg(key, value);
  };
  add("source", request.source);
  add("source_tag", request.source_tag);
  add("message", request.message);
  return begin(args, count);
}

// `looked_ns`: when the program first polled; 0: it did not.
void EndRange(uint64_t range, Direction direction, const Peers& peers,
              const void* status, uint64_t ticks,
              int64_t looked_ns = 0) noexcept {
  if (range == 0) return;
  const record::CapturedArg polled = record::IntArg(
      "polled_ns", looked_ns == 0 ? 0 : MonotonicNs() - looked_ns);
  const size_t more = looked_ns == 0 ? 0 : 1;
  if (direction == Direction::kReceive && status != nullptr) {
    const Received received = ReadStatus(status, peers, true);
    if (received.is_message) {
      const record::CapturedArg args[] = {
          record::IntArg("from", received.from),
          record::IntArg("tag", received.tag),
          record::IntArg("bytes", received.bytes), polled};
      record::EndCapturedAsync(range, args, 3 + more, ticks);
      return;
    }
  }
  record::EndCapturedAsync(range, &polled, more, ticks);
}

// Of MPI_Comm_idup.
void AddNewCommunicator(Word address, uint32_t place) noexcept {
  if (address != 0) AddCommunicatorAt(HandleAt(address, 0), place);
}

OpenRequest OpenFor(Word handle, Look look = Look::kWaits) noexcept {
  handle = Handle(handle);
  if (handle == Abi().request_null || handle == 0) return {};
  Entry* const entry = FindEntry(handle);
  if (entry == nullptr || entry->range == 0) return {};
  entry->is_waited_for = true;
  if (look == Look::kTests && entry->looked_ns == 0) {
    entry->looked_ns = MonotonicNs();
  }
  return {.handle = handle,
          .range = entry->range,
          .direction = entry->request.direction,
          .peers = entry->request.peers,
          .new_comm = entry->request.new_comm,
          .place = entry->request.place,
          .looked_ns = entry->looked_ns};
}

void Remember(Word handle, const Entry& fresh) noexcept {
  uint64_t earlier = 0;
  {
    const SpinLock::Held held(requests_lock);
    Entry* const entry = EntryFor(handle);
    if (entry == nullptr) {
      lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    // The library uses the handle again, so its earlier request has ended.
    if (!entry->is_waited_for) earlier = entry->range;
    *entry = fresh;
  }
  if (earlier != 0) record::EndCapturedAsync(earlier);
}

void Forget(const OpenRequest& open) noexcept {
  const SpinLock::Held held(requests_lock);
  Entry* const entry = FindEntry(open.handle);
  // Otherwise another thread has the handle for its next request.
  if (entry == nullptr || entry->range != open.range) return;
  entry->range = 0;
  if (!entry->request.is_persistent) EraseEntry(entry);
}

}  // namespace

void BeginRequest(Word handle, const Request& request,
                  uint64_t ticks) noexcept {
  handle = Handle(handle);
  if (handle == Abi().request_null || handle == 0) return;
  const uint64_t range = request.is_persistent ? 0 : BeginRange(request, ticks);
  if (IsComplete(handle)) {
    EndRange(range, Direction::kSend, {}, nullptr, ticks);
    AddNewCommunicator(request.new_comm, request.place);
    return;
  }
  Remember(handle, {.handle = handle, .range = range, .request = request});
}

void StartRequest(Word handle) noexcept {
  handle = Handle(handle);
  const SpinLock::Held held(requests_lock);
  Entry* const entry = FindEntry(handle);
  if (entry == nullptr) return;
  entry->range = BeginRange(entry->request, 0);
  entry->is_waited_for = entry->is_cancelled = false;
  entry->looked_ns = 0;
}

void FindRequests(Word handles, int count, Look look,
                  OpenRequest* open) noexcept {
  const SpinLock::Held held(requests_lock);
  for (int i = 0; i < count; ++i) open[i] = OpenFor(HandleAt(handles, i), look);
}

void CompleteRequest(const OpenRequest& open, const void* status,
                     uint64_t ticks) noexcept {
  if (open.range == 0) return;
  Forget(open);
  EndRange(open.range, open.direction, open.peers, status, ticks,
           open.looked_ns);
  AddNewCommunicator(open.new_comm, open.place);
}

void FailRequest(const OpenRequest& open, int error, uint64_t ticks) noexcept {
  if (open.range == 0) return;
  Forget(open);
  const record::CapturedArg failed = record::IntArg("failed", error);
  record::EndCapturedAsync(open.range, &failed, 1, ticks);
}

void FreeRequest(Word handle) noexcept {
  OpenRequest open;
  int64_t source = -1;
  int64_t tag = -1;
  {
    const SpinLock::Held held(requests_lock);
    open = OpenFor(handle);
    Entry* const entry = FindEntry(Handle(handle));
    if (entry != nullptr) {
      tag = entry->request.source_tag;
      if (open.direction == Direction::kReceive && !entry->is_cancelled &&
          tag >= 0) {
        source = entry->request.source;
      }
      EraseEntry(entry);
    }
  }
  if (open.range == 0) return;
  // It may be complete already, also if the program has tried to cancel it.
  StatusRoom status;
  int is_complete = 0;
  if (open.direction == Direction::kReceive &&
      request_get_status(Handle(handle), &is_complete, &status) == kSuccess &&
      is_complete != 0) {
    EndRange(open.range, open.direction, open.peers, &status, 0);
    return;
  }
  const record::CapturedArg args[] = {record::IntArg("from", source),
                                      record::IntArg("tag", tag)};
  record::EndCapturedAsync(open.range, args, source < 0 ? 0 : 2);
}

void CancelRequest(Word handle) noexcept {
  const SpinLock::Held held(requests_lock);
  Entry* const entry = FindEntry(Handle(handle));
  if (entry != nullptr) entry->is_cancelled = true;
}

int64_t NewMessageNumber() noexcept {
  return messages_found.fetch_add(1, std::memory_order_relaxed);
}

void AddMessage(Word handle, const Request& probe) noexcept {
  handle = Handle(handle);
  if (handle != 0) Remember(handle, {.handle = handle, .request = probe});
}

bool TakeMessage(Word handle, Request& receive) noexcept {
  handle = Handle(handle);
  if (handle == 0) return false;
  const SpinLock::Held held(requests_lock);
  Entry* const entry = FindEntry(handle);
  if (entry == nullptr) return false;
  receive.comm_id = entry->request.comm_id;
  receive.peers = entry->request.peers;
  receive.message = entry->request.message;
  EraseEntry(entry);
  return true;
}

uint64_t RequestsLost() noexcept {
  return lost.load(std::memory_order_relaxed);
}

}  // namespace kymo::mpi
