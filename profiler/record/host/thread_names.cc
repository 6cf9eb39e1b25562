#include "profiler/record/host/thread_names.h"

#include <string.h>
#include <sys/prctl.h>

namespace kymo::record {

void StoreThreadName(StreamEntry& entry) noexcept {
  char name[16] = {};
  if (prctl(PR_GET_NAME, name) != 0) return;
  uint64_t words[2];
  memcpy(words, name, sizeof(words));
  entry.name[0].store(words[0], std::memory_order_relaxed);
  entry.name[1].store(words[1], std::memory_order_relaxed);
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
