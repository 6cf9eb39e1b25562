#include "backends/mpi/target/requests.h"

#include <atomic>
#include <cstddef>

#include "backends/mpi/target/message.h"
#include "backends/mpi/target/spin_lock.h"
#include "profiler/record/captured.h"

namespace kymo::mpi {
namespace {

constexpr int kTableBits = 16;
constexpr size_t kMostProbed = 256;
constexpr Word kFree = 1;  // no handle of any implementation

struct Entry {
  Word handle = 0;  // 0: never used, kFree: free again
  uint64_t range = 0;
  Request request;
};

constinit Entry table[size_t{1} << kTableBits];
constinit SpinLock lock;
constinit std::atomic<uint64_t> lost{0};

size_t PlaceOf(Word handle) noexcept {
  return handle * 0x9e3779b97f4a7c15u >> (64 - kTableBits);
}

Entry& At(Word handle, size_t probe) noexcept {
  return table[(PlaceOf(handle) + probe) % (size_t{1} << kTableBits)];
}

// REQUIRES: the lock is held, here and below.
Entry* Find(Word handle) noexcept {
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    Entry& entry = At(handle, probe);
    if (entry.handle == handle) return &entry;
    if (entry.handle == 0) return nullptr;
  }
  return nullptr;
}

Entry* FreeEntry(Word handle) noexcept {
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    Entry& entry = At(handle, probe);
    if (entry.handle == 0 || entry.handle == kFree) return &entry;
  }
  return nullptr;
}

record::CapturedArg IntArg(const char* key, int64_t value) noexcept {
  return {.key = record::NameOf(key).id, .bits = static_cast<uint64_t>(value)};
}

// Whether the handle is the one that stands for every send that was complete
// when its call returned.
bool IsComplete(Word handle) noexcept {
  if (Abi().request_complete != 0) return handle == Abi().request_complete;
  // MPICH's objects that exist from the start have 01 in the two upper bits.
  return Abi().handle_bytes == 4 && handle >> 30 == 1;
}

uint64_t BeginRange(const Request& request) noexcept {
  if (!record::IsOn()) return 0;
  const record::CapturedArg args[] = {
      IntArg("comm", request.comm_id), IntArg("to", request.peer),
      IntArg("tag", request.tag), IntArg("bytes", request.bytes)};
  const bool is_send = request.direction == Direction::kSend;
  return record::BeginCapturedAsync({.name = record::NameOf(request.name.text),
                                     .args = args,
                                     .arg_count = is_send ? 4u : 1u});
}

void EndRange(uint64_t range, const Request& request,
              const void* status) noexcept {
  if (range == 0) return;
  if (request.direction == Direction::kReceive && status != nullptr) {
    const Received received = ReadStatus(status, request.comm);
    if (received.is_message) {
      const record::CapturedArg args[] = {IntArg("from", received.from),
                                          IntArg("tag", received.tag),
                                          IntArg("bytes", received.bytes)};
      record::AddCapturedArgs(range, args, 3);
    }
  }
  record::EndCapturedAsync(range);
}

}  // namespace

void BeginRequest(Word handle, const Request& request) noexcept {
  handle = Handle(handle);
  if (handle == Abi().request_null) return;
  const uint64_t range = request.is_persistent ? 0 : BeginRange(request);
  if (IsComplete(handle)) return EndRange(range, request, nullptr);
  uint64_t earlier = 0;
  {
    const SpinLock::Held held(lock);
    Entry* entry = Find(handle);
    // The library uses the handle again, so its earlier request has ended.
    if (entry != nullptr) earlier = entry->range;
    if (entry == nullptr) entry = FreeEntry(handle);
    if (entry == nullptr) {
      lost.fetch_add(1, std::memory_order_relaxed);
    } else {
      *entry = {.handle = handle, .range = range, .request = request};
    }
  }
  if (earlier != 0) record::EndCapturedAsync(earlier);
}

void StartRequest(Word handle) noexcept {
  handle = Handle(handle);
  const SpinLock::Held held(lock);
  Entry* const entry = Find(handle);
  if (entry != nullptr) entry->range = BeginRange(entry->request);
}

void CompleteRequest(Word handle, const void* status) noexcept {
  handle = Handle(handle);
  if (handle == Abi().request_null) return;
  Entry ended;
  {
    const SpinLock::Held held(lock);
    Entry* const entry = Find(handle);
    if (entry == nullptr) return;
    ended = *entry;
    entry->range = 0;
    if (!ended.request.is_persistent || status == nullptr)
      entry->handle = kFree;
  }
  EndRange(ended.range, ended.request, status);
}

uint64_t RequestsLost() noexcept {
  return lost.load(std::memory_order_relaxed);
}

}  // namespace kymo::mpi
