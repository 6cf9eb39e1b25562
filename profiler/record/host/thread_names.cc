#include "profiler/record/host/thread_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"
#include "profiler/record/host/restricted_calls.h"

namespace kymo::record {

namespace {

constexpr size_t kNameBytes = 16;  // the system's, with their final 0

void Store(const char (&name)[kNameBytes], StreamEntry& entry) noexcept {
  uint64_t words[2];
  memcpy(words, name, sizeof(words));
  entry.name[0].store(words[0], std::memory_order_relaxed);
  entry.name[1].store(words[1], std::memory_order_relaxed);
}

}  // namespace

void StoreThreadName(StreamEntry& entry) noexcept {
  if (calls_are_restricted) return;
  char name[kNameBytes] = {};
  if (prctl(PR_GET_NAME, name) == 0) Store(name, entry);
}

bool HasThreadName(const StreamEntry& entry) noexcept {
  return entry.name[0].load(std::memory_order_relaxed) != 0;
}

void StoreNamesOfThreads() noexcept {
  if (calls_are_restricted) return;
  const int32_t pid = getpid();
  for (uint32_t id = 0; id < own.arena.stream_count(); ++id) {
    StreamEntry& entry = own.arena.stream(id);
    if (entry.pid.load(std::memory_order_relaxed) != pid) continue;
    // A program that runs for long has had many threads.
    if (entry.has_ended.load(std::memory_order_relaxed) != 0) continue;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/comm",
             static_cast<int>(entry.tid.load(std::memory_order_relaxed)));
    const int file = AboveStandardStreams(open(path, O_RDONLY | O_CLOEXEC));
    if (file < 0) {
      // An ended thread left its name.
      const bool has_ended = errno == ENOENT || errno == ESRCH;
      entry.has_ended.store(has_ended, std::memory_order_relaxed);
      continue;
    }
    char name[kNameBytes] = {};
    const ssize_t size = read(file, name, sizeof(name));
    close(file);
    if (size <= 0) continue;
    name[size - 1] = 0;  // the line's end
    Store(name, entry);
  }
}

void StoreExplicitName(StreamEntry& entry) noexcept {
  if (own_thread.name_size == 0) return;
  const uint32_t id =
      own.arena.InternName({own_thread.name, own_thread.name_size});
  entry.explicit_name.store(uint64_t{id} + 1, std::memory_order_relaxed);
}

void StoreNameFromOthers(Wiped* wiped, StreamEntry& entry) noexcept {
  if (__atomic_load_n(&wiped->threads_to_name_count, __ATOMIC_SEQ_CST) == 0) {
    return;
  }
  Lock lock(wiped);
  const int32_t tid = entry.tid.load(std::memory_order_relaxed);
  for (ThreadToName& waiting : wiped->threads_to_name) {
    if (waiting.tid != tid) continue;
    entry.explicit_name.store(uint64_t{waiting.name} + 1,
                              std::memory_order_relaxed);
    waiting.tid = 0;
  }
}

void OwnSetThreadName(const char* text, uint64_t size) noexcept {
  const size_t kept = size < kThreadNameBytes ? size : kThreadNameBytes;
  if (kept < size) OwnCountTruncated();
  memcpy(own_thread.name, text, kept);
  own_thread.name_size = static_cast<uint32_t>(kept);
  const ThreadStream* const stream = own_thread.stream;
  if (stream != nullptr && stream->stream_plus_1 != 0) {
    StoreExplicitName(own.arena.stream(stream->stream_plus_1 - 1));
  }
}

void OwnNameThread(int32_t tid, const char* text, uint64_t size) noexcept {
  if (tid == ThreadId()) return OwnSetThreadName(text, size);
  if (InSlowPath()) return;
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr || !own.has_arena.load(std::memory_order_acquire)) {
    return;
  }
  const uint32_t name = own.arena.InternName({text, size});
  const int32_t pid = getpid();
  Lock lock(wiped);
  // Stored before the search: a thread that registers meanwhile is found by it,
  // or finds this entry.
  const uint32_t at =
      __atomic_fetch_add(&wiped->threads_to_name_count, 1, __ATOMIC_SEQ_CST) %
      kMaxThreadsToName;
  // If many named threads never recorded, the oldest one makes room.
  if (wiped->threads_to_name[at].tid != 0) OwnCountTruncated();
  wiped->threads_to_name[at] = {tid, name};
  // The newest first, because the system reuses ids.
  for (uint32_t id = own.arena.stream_count(); id-- > 0;) {
    StreamEntry& entry = own.arena.stream(id);
    if (entry.pid.load(std::memory_order_relaxed) != pid ||
        entry.tid.load(std::memory_order_relaxed) != tid) {
      continue;
    }
    entry.explicit_name.store(uint64_t{name} + 1, std::memory_order_relaxed);
    wiped->threads_to_name[at].tid = 0;
    return;
  }
}

}  // namespace kymo::record
