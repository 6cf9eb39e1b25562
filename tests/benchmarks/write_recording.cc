// write_recording - a raw recording of any size, as //tools:profile
// --cpu_keep_raw would have left it.
//
//   write_recording RANGES PATH
//
// Eight threads, 200 names, about six deep, three callees of each name: the
// same 200 thousand call paths again and again. Memory is that of two million
// ranges.
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_file.h"
#include "profiler/record/arena/chunk_reader.h"
#include "tests/benchmarks/synthetic_chunks.h"

namespace kymo::benchmarks {
namespace {

using record::ChunkView;
using record::Slot;
using record::SlotKind;

constexpr uint32_t kThreads = 8;
constexpr size_t kRangesAtOnce = 2'000'000;

class Writer {
 public:
  explicit Writer(stream::RawFile& file)
      : file_(file), synthetic_({.ranges = kRangesAtOnce, .callees = 3}) {
    store_.OpenAt(file.fd(), file.chunks_begin());
    file.arena().AddProcess()->pid.store(1);
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      file.arena().AddStream(1, 1 + static_cast<int32_t>(thread));
    }
    // The threads took chunks in turn.
    std::map<uint32_t, uint64_t> taken;
    for (const ChunkView& chunk : synthetic_.input().chunks) {
      tickets_.push_back(1 + chunk.stream + kThreads * taken[chunk.stream]++);
    }
    for (uint32_t name = 1; name < synthetic_.input().name_limit; ++name) {
      names_.push_back(
          file.arena().InternName(synthetic_.input().name_text(name)));
    }
    for (const ChunkView& chunk : synthetic_.input().chunks) Prepare(chunk);
    order_.resize(copies_.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(),
              [this](size_t a, size_t b) { return tickets_[a] < tickets_[b]; });
  }

  // Returns whether all of it could be written.
  bool Write(size_t ranges) {
    const uint64_t length = last_tick_ + 1'000;
    for (size_t pass = 0; pass < ranges / kRangesAtOnce; ++pass) {
      for (const size_t i : order_) {
        store_.Add({.stream = synthetic_.input().chunks[i].stream,
                    .ticket = tickets_[i] + pass * kTicketsOfPass,
                    .first_index = 0,
                    .slots = {copies_[i].get(), slots_[i]}});
      }
      for (size_t i = 0; i < copies_.size(); ++i) Shift(i, length);
    }
    file_.Note(
        {.first_anchor = {.ticks = 1, .monotonic_ns = 1},
         .last_anchor = {.ticks = last_tick_ + 1,
                         .monotonic_ns = static_cast<int64_t>(last_tick_) + 1},
         .is_complete = 1});
    return store_.lost_bytes() == 0;
  }

 private:
  static constexpr uint64_t kTicketsOfPass = uint64_t{1} << 20;

  static bool IsEnd(const Slot& slot) {
    return record::UnpackKind(slot.kind_scope_depth) == SlotKind::kEnd;
  }

  // The file's names and tickets.
  void Prepare(const ChunkView& chunk) {
    copies_.push_back(record::CopySlots(chunk.slots));
    slots_.push_back(chunk.slots.size());
    for (Slot& slot : std::span(copies_.back().get(), chunk.slots.size())) {
      if (IsEnd(slot)) {
        slot.end.store(tickets_[slot.end.load() - 1]);
      } else {
        slot.name = names_[slot.name - 1];
      }
      last_tick_ = std::max(last_tick_, slot.begin.load());
    }
  }

  // To what the next pass records.
  void Shift(size_t chunk, uint64_t ticks) {
    for (Slot& slot : std::span(copies_[chunk].get(), slots_[chunk])) {
      slot.begin.store(slot.begin.load() + ticks);
      const uint64_t end = slot.end.load();
      if (end != 0)
        slot.end.store(end + (IsEnd(slot) ? kTicketsOfPass : ticks));
      last_tick_ = std::max(last_tick_, slot.begin.load());
    }
  }

  stream::RawFile& file_;
  const SyntheticChunks synthetic_;
  stream::ChunkStore store_;
  std::vector<uint64_t> tickets_;  // by chunk
  std::vector<uint32_t> names_;
  std::vector<std::unique_ptr<Slot[]>> copies_;
  std::vector<size_t> slots_;
  std::vector<size_t> order_;
  uint64_t last_tick_ = 0;
};

int Main(size_t ranges, const std::string& path) {
  auto file =
      stream::RawFile::Create(path, {.capacity_bytes = record::kChunkBytes,
                                     .chunk_bytes_total = record::kChunkBytes,
                                     .policy = record::FullPolicy::kDrain,
                                     .clock_source = ClockSource::kSystem});
  if (!file.ok()) {
    fprintf(stderr, "%s\n", std::string(file.status().message()).c_str());
    return 1;
  }
  if (Writer(*file).Write(ranges)) return 0;
  fprintf(stderr, "cannot write all of %s\n", path.c_str());
  return 1;
}

}  // namespace
}  // namespace kymo::benchmarks

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: write_recording RANGES PATH\n");
    return 2;
  }
  return kymo::benchmarks::Main(strtoull(argv[1], nullptr, 10), argv[2]);
}
