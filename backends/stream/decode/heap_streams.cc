#include "backends/stream/decode/heap_streams.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "backends/stream/decode/heap_fold.h"
#include "backends/stream/decode/index_table.h"

namespace kymo::stream {
namespace {

using record::Slot;
using record::SlotKind;

// 96 bits of a hash, which tell the payloads of stacks apart. The chance that
// two of ten million payloads have the same hash is less than 1 to 10^14.
struct PayloadHash {
  uint64_t first = 0;
  uint32_t second = 0;
};

// The two halves of a product, as one word.
uint64_t Mixed(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

// As wyhash does, two words for each product.
PayloadHash HashOf(std::span<const Slot> payload, size_t bytes, int64_t pid) {
  constexpr uint64_t kFirst = 0xa0761d6478bd642fu;
  constexpr uint64_t kSecond = 0xe7037ed1a0b428dbu;
  uint64_t first = static_cast<uint64_t>(pid) ^ kSecond;
  uint64_t second = static_cast<uint64_t>(pid) ^ kFirst;
  const char* at = reinterpret_cast<const char*>(payload.data());
  for (std::array<uint64_t, 2> words = {}; bytes > 0;) {
    const size_t size = std::min(bytes, sizeof(words));
    if (size < sizeof(words)) words = {};
    std::memcpy(words.data(), at, size);
    first = Mixed(words[0] ^ kFirst, words[1] ^ first);
    second = Mixed(words[0] ^ second, words[1] ^ kSecond);
    at += size;
    bytes -= size;
  }
  return {Mixed(first, kFirst), static_cast<uint32_t>(second)};
}

// Stacks that have been seen, by their payloads.
class SeenStacks {
 public:
  SeenStacks(const HeapStreams& streams, model::LossLedger& ledger)
      : streams_(streams), ledger_(ledger) {}

  static PayloadHash Hash(std::span<const Slot> payload, int64_t pid) {
    const record::PayloadHeader header = HeaderOf(payload);
    return HashOf(payload,
                  std::min<size_t>(sizeof(header) + header.size_bytes,
                                   payload.size_bytes()),
                  pid);
  }

  // Find takes less time if both were called some calls earlier, in this order.
  void PrefetchPlace(const PayloadHash& hash) const {
    table_.Prefetch(hash.first);
  }
  void PrefetchSeen(const PayloadHash& hash) const {
    const uint32_t first = table_.First(hash.first);
    if (first != IndexTable::kNone) __builtin_prefetch(&seen_[first]);
  }

  model::StackId Find(std::span<const Slot> payload, const PayloadHash& hash,
                      int64_t pid) {
    uint32_t& place = table_.PlaceOf(hash.first, [&](uint32_t i) {
      return seen_[i].first == hash.first && seen_[i].second == hash.second;
    });
    if (place != IndexTable::kNone) {
      // streams_.stack counts it the first time.
      if (HeaderOf(payload).key != 0)
        ledger_.Add(model::Loss::kStacksTruncated, 1);
      return seen_[place].stack;
    }
    place = static_cast<uint32_t>(seen_.size());
    const model::StackId stack = streams_.stack(payload, pid);
    seen_.push_back({hash.first, hash.second, stack});
    table_.Grow(seen_.size(), [&](uint32_t i) { return seen_[i].first; });
    return stack;
  }

 private:
  static record::PayloadHeader HeaderOf(std::span<const Slot> payload) {
    record::PayloadHeader header;
    std::memcpy(&header, payload.data(), sizeof(header));
    return header;
  }

  struct Seen {
    uint64_t first = 0;   // of its hash
    uint32_t second = 0;  // of its hash
    model::StackId stack = model::kEmptyStack;
  };

  const HeapStreams& streams_;
  model::LossLedger& ledger_;
  std::vector<Seen> seen_;
  IndexTable table_;
};

// The records of one stream, one chunk at a time.
class Cursor {
 public:
  Cursor(const HeapStreams& streams, size_t rank)
      : streams_(streams), stream_(streams.streams[rank]), rank_(rank) {
    thread_ = {.pid = stream_.pid, .track = stream_.track};
    const auto later = streams.later_programs.find(stream_.pid);
    if (later != streams.later_programs.end()) later_ = later->second;
    next_ns_ = FirstTime();
  }

  // The order of the next records of two streams.
  bool IsBefore(const Cursor& other) const {
    return next_ns_ < other.next_ns_ ||
           (next_ns_ == other.next_ns_ && rank_ < other.rank_);
  }
  int64_t pid() const { return stream_.pid; }

  // Folds records as long as they come before the next one of `other` (null:
  // no other stream has records). False at the stream's end.
  bool FoldUntil(const Cursor* other, SeenStacks& stacks,
                 model::LossLedger& ledger, HeapFold& fold) {
    for (;;) {
      if (at_ == records_.size() && !Load(stacks, ledger)) return false;
      for (; at_ < records_.size(); ++at_) {
        next_ns_ = records_[at_].time_ns;
        if (other != nullptr && !IsBefore(*other)) return true;
        while (!later_.empty() && later_.front() <= next_ns_) {
          later_ = later_.subspan(1);
          ++thread_.program;
        }
        if (at_ + kAhead < records_.size()) {
          fold.Prefetch(thread_, records_[at_ + kAhead]);
        }
        fold.Add(thread_, records_[at_]);
      }
    }
  }

 private:
  // A payload of the present chunk.
  struct Payload {
    size_t record;
    std::span<const Slot> slots;
    PayloadHash hash;
  };
  // How many records ahead tables are prefetched.
  static constexpr size_t kAhead = 8;

  TimeNs FirstTime() const {
    return streams_.clock.ToEpochNs(
        stream_.chunks[next_chunk_]->heap_first_ticks);
  }

  // Reads the next chunk.
  bool Load(SeenStacks& stacks, model::LossLedger& ledger) {
    records_.clear();
    at_ = 0;
    while (records_.empty()) {
      if (next_chunk_ == stream_.chunks.size()) {
        records_.shrink_to_fit();
        return false;
      }
      const Chunk& chunk = *stream_.chunks[next_chunk_++];
      record::ForEachRecord(
          *chunk.view, [&](const Slot& head, std::span<const Slot> payload,
                           uint32_t) { AddRecord(head, payload, ledger); });
      FindStacks(stacks);
      if (streams_.release) streams_.release(*chunk.view);
    }
    const auto by_time = [](const HeapRecord& a, const HeapRecord& b) {
      return a.time_ns < b.time_ns;
    };
    if (!std::is_sorted(records_.begin(), records_.end(), by_time)) {
      std::stable_sort(records_.begin(), records_.end(), by_time);
    }
    return true;
  }

  void AddRecord(const Slot& head, std::span<const Slot> payload,
                 model::LossLedger& ledger) {
    if (!IsHeapRecord(head)) return;
    const uint64_t ticks = head.begin.load(std::memory_order_relaxed);
    if (!streams_.recorded.empty() && !IsInAny(streams_.recorded, ticks)) {
      return;
    }
    const uint64_t address = head.end.load(std::memory_order_relaxed);
    if (address == 0) {
      // A free: IsHeapRecord leaves out failed allocations.
      ledger.Add(model::Loss::kFreesOfUnknownBlocks, 1);
      return;
    }
    HeapRecord& record = records_.emplace_back();
    record.time_ns = streams_.clock.ToEpochNs(ticks);
    record.address = address;
    record.bytes = HeapBytesOf(head);
    record.is_free =
        record::UnpackKind(head.kind_scope_depth) == SlotKind::kFree;
    if (!record.is_free && !payload.empty()) {
      payloads_.push_back({records_.size() - 1, payload,
                           SeenStacks::Hash(payload, stream_.pid)});
    }
  }

  void FindStacks(SeenStacks& stacks) {
    for (size_t i = 0; i < payloads_.size(); ++i) {
      if (i + 2 * kAhead < payloads_.size()) {
        stacks.PrefetchPlace(payloads_[i + 2 * kAhead].hash);
      }
      if (i + kAhead < payloads_.size()) {
        stacks.PrefetchSeen(payloads_[i + kAhead].hash);
      }
      const Payload& payload = payloads_[i];
      records_[payload.record].stack =
          stacks.Find(payload.slots, payload.hash, stream_.pid);
    }
    payloads_.clear();
  }

  const HeapStreams& streams_;
  const HeapStreams::Stream& stream_;
  const size_t rank_;
  HeapThread thread_;
  std::span<const TimeNs> later_;    // programs that come
  std::vector<HeapRecord> records_;  // of the present chunk
  std::vector<Payload> payloads_;
  size_t at_ = 0;
  size_t next_chunk_ = 0;
  TimeNs next_ns_ = 0;
};

}  // namespace

LaterPrograms LaterProgramsOf(std::span<const model::Process> processes) {
  LaterPrograms starts;
  for (const model::Process& process : processes) {
    if (process.start_ns != 0) starts[process.pid].push_back(process.start_ns);
  }
  for (auto& [pid, times] : starts) {
    std::sort(times.begin(), times.end());
    times.erase(times.begin());  // the first program replaced no other
  }
  return starts;
}

bool AreInOrder(const HeapStreams& streams) {
  for (const HeapStreams::Stream& stream : streams.streams) {
    for (size_t i = 1; i < stream.chunks.size(); ++i) {
      if (stream.chunks[i]->heap_first_ticks <
          stream.chunks[i - 1]->heap_last_ticks) {
        return false;
      }
    }
  }
  return true;
}

std::shared_ptr<model::FoldedMemory> FoldHeap(const HeapStreams& streams,
                                              model::LossLedger& ledger) {
  // From now on, tables of millions of stacks are mapped and unmapped. glibc
  // would keep those of up to 32 MiB in its heap, where holes stay. This is for
  // the whole process: only commands fold.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  SeenStacks stacks(streams, ledger);
  HeapFold fold(streams.with_changes ? HeapFold::With::kChanges
                                     : HeapFold::With::kSums);
  std::vector<std::unique_ptr<Cursor>> cursors;      // a heap, the first on top
  std::unordered_map<int64_t, size_t> streams_left;  // by pid
  for (size_t i = 0; i < streams.streams.size(); ++i) {
    if (streams.streams[i].chunks.empty()) continue;
    cursors.push_back(std::make_unique<Cursor>(streams, i));
    ++streams_left[cursors.back()->pid()];
  }
  const auto later = [](const auto& a, const auto& b) {
    return b->IsBefore(*a);
  };
  std::make_heap(cursors.begin(), cursors.end(), later);
  while (!cursors.empty()) {
    std::pop_heap(cursors.begin(), cursors.end(), later);
    std::unique_ptr<Cursor> first = std::move(cursors.back());
    cursors.pop_back();
    const Cursor* const second =
        cursors.empty() ? nullptr : cursors.front().get();
    if (first->FoldUntil(second, stacks, ledger, fold)) {
      cursors.push_back(std::move(first));
      std::push_heap(cursors.begin(), cursors.end(), later);
    } else if (--streams_left[first->pid()] == 0) {
      fold.End(first->pid());
    }
  }
  return std::move(fold).Take(ledger);
}

}  // namespace kymo::stream
