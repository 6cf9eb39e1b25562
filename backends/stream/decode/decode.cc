#include "backends/stream/decode/decode.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "backends/stream/decode/decode_names.h"
#include "backends/stream/decode/decode_payload.h"
#include "backends/stream/decode/heap_streams.h"
#include "backends/stream/decode/resources.h"
#include "profiler/base/parallel.h"

namespace kymo::stream {
namespace {

using record::ChunkView;
using record::Slot;
using record::SlotKind;

class Decoder {
 public:
  Decoder(const DecodeInput& input, model::TraceShard& shard)
      : input_(input),
        shard_(shard),
        names_(input.name_limit, input.name_text, shard.strings),
        payloads_(input.stack, input.details, names_, shard),
        chunk_decoder_(input.clock, input.recorded, names_) {}

  std::vector<DecodedChunk> Run() {
    SortChunks();
    ParallelForEach(chunks_.size(), [&](size_t i) {
      chunk_decoder_.Count(chunks_[i]);
      if (input_.release) input_.release(*chunks_[i].view);
    });
    const std::optional<HeapStreams> heap = HeapToFold();
    if (heap) LeaveOutHeap();
    LimitMemory();
    PlaceChunks();
    names_.MapMarked();
    ParallelForEach(chunks_.size(), [&](size_t i) {
      if (chunks_[i].without_heap && !chunks_[i].has_others) return;
      chunk_decoder_.Fill(chunks_[i], shard_.block, shard_.memory);
      if (input_.release) input_.release(*chunks_[i].view);
    });
    ApplyFollowUps();
    ReadMappings();
    if (heap) shard_.folded_memory = FoldHeap(*heap, shard_.ledger);
    for (Chunk& chunk : chunks_) {
      if (chunk.rest.payloads.empty()) continue;
      ReadPayloads(chunk);
      if (input_.release) input_.release(*chunk.view);
    }
    ReadCounters();
    ReadResources();
    ReadMemoryStacks();
    for (const Chunk& chunk : chunks_) {
      shard_.ledger.Add(model::Loss::kRecordsCorrupt, chunk.rest.corrupt);
    }
    return Decoded();
  }

 private:
  // By track, as the trace has them, then stream and ticket; streams without a
  // track are dropped here.
  void SortChunks() {
    for (const ChunkView& view : input_.chunks) {
      if (view.stream >= input_.stream_tracks.size() ||
          input_.stream_tracks[view.stream] == model::kNoTrack) {
        shard_.ledger.Add(model::Loss::kRecordsCorrupt, view.slots.size());
        continue;
      }
      Chunk& chunk = chunks_.emplace_back();
      chunk.view = &view;
      chunk.track = input_.stream_tracks[view.stream];
    }
    std::sort(
        chunks_.begin(), chunks_.end(),
        [this](const Chunk& a, const Chunk& b) { return KeyOf(a) < KeyOf(b); });
  }

  std::tuple<int64_t, int64_t, uint32_t, uint64_t, uint32_t> KeyOf(
      const Chunk& chunk) const {
    const model::Track& track = shard_.tracks[chunk.track];
    return {track.pid, track.id, chunk.view->stream, chunk.view->ticket,
            chunk.view->first_index};
  }

  // The heap's records, if they are to be folded.
  std::optional<HeapStreams> HeapToFold() {
    uint64_t records = 0;
    bool has_ranges = input_.others_record_ranges;
    for (const Chunk& chunk : chunks_) {
      records += chunk.heap_count;
      has_ranges |= chunk.has_ranges;
    }
    if (!input_.with_memory || records <= input_.fold_heap_above) {
      return std::nullopt;
    }
    HeapStreams heap = {.streams = {},
                        .clock = input_.clock,
                        .recorded = input_.recorded,
                        .later_programs = LaterProgramsOf(shard_.processes),
                        .with_changes = has_ranges,
                        .stack =
                            [this](std::span<const Slot> payload, int64_t pid) {
                              return payloads_.ReadStack(payload, pid);
                            },
                        .release = input_.release};
    uint32_t stream = 0;
    for (const Chunk& chunk : chunks_) {
      if (heap.streams.empty() || chunk.view->stream != stream) {
        heap.streams.push_back(
            {.pid = PidOf(chunk), .track = chunk.track, .chunks = {}});
        stream = chunk.view->stream;
      }
      if (chunk.heap_count != 0) heap.streams.back().chunks.push_back(&chunk);
    }
    if (!AreInOrder(heap)) return std::nullopt;
    return heap;
  }

  void LeaveOutHeap() {
    for (Chunk& chunk : chunks_) {
      chunk.without_heap = true;
      chunk.memory_count -= chunk.heap_count;
    }
  }

  // Leaves out the memory records of the latest chunks if there are too many.
  void LimitMemory() {
    if (!input_.with_memory) {
      for (Chunk& chunk : chunks_) LeaveOutMemory(chunk);
      return;
    }
    size_t records = 0;
    for (const Chunk& chunk : chunks_) records += chunk.memory_count;
    if (records <= input_.memory_limit) return;
    std::vector<Chunk*> latest_first;
    for (Chunk& chunk : chunks_) latest_first.push_back(&chunk);
    std::sort(latest_first.begin(), latest_first.end(),
              [](const Chunk* a, const Chunk* b) {
                return a->view->ticket > b->view->ticket;
              });
    for (Chunk* const chunk : latest_first) {
      if (records <= input_.memory_limit) break;
      records -= chunk->memory_count;
      shard_.ledger.Add(model::Loss::kMemoryRecordsLeftOut,
                        chunk->memory_count);
      LeaveOutMemory(*chunk);
    }
  }

  static void LeaveOutMemory(Chunk& chunk) {
    chunk.memory_count = 0;
    chunk.without_memory = true;
  }

  // One part of the block per stream; each chunk gets its first row.
  void PlaceChunks() {
    size_t rows = 0;
    size_t memory_rows = 0;
    for (size_t i = 0; i < chunks_.size(); ++i) {
      chunks_[i].first_row = rows;
      rows += chunks_[i].event_count;
      chunks_[i].first_memory = memory_rows;
      memory_rows += chunks_[i].memory_count;
      if (i + 1 == chunks_.size() ||
          chunks_[i].view->stream != chunks_[i + 1].view->stream) {
        shard_.block.parts.push_back({.track = chunks_[i].track, .end = rows});
      }
    }
    Resize(shard_.block, rows);
    shard_.memory.resize(memory_rows);
  }

  static void Resize(model::EventColumns& events, size_t rows) {
    events.start_ns.resize(rows);
    events.end_ns.resize(rows);
    events.name.resize(rows);
    events.type.resize(rows);
    events.scope.resize(rows);
    events.flags.resize(rows);
    events.depth.resize(rows);
  }

  // The chunk, or the part of it, that has the slot. Parts follow each other.
  Chunk* FindChunk(uint64_t ticket, uint32_t index) {
    if (by_ticket_.empty()) {
      for (size_t i = 0; i < chunks_.size(); ++i) {
        by_ticket_.emplace(chunks_[i].view->ticket, i);
      }
    }
    const auto it = by_ticket_.find(ticket);
    if (it == by_ticket_.end()) return nullptr;
    size_t i = it->second;
    while (i + 1 < chunks_.size() && chunks_[i + 1].view->ticket == ticket &&
           chunks_[i + 1].view->first_index <= index) {
      ++i;
    }
    return &chunks_[i];
  }

  int64_t PidOf(const Chunk& chunk) const {
    return shard_.tracks[chunk.track].pid;
  }

  void ApplyFollowUps() {
    for (Chunk& chunk : chunks_) {
      for (const FollowUp& follow_up : chunk.rest.follow_ups) {
        Chunk* const target = FindChunk(follow_up.ticket, follow_up.index);
        if (target == nullptr) {
          if (input_.is_elsewhere && input_.is_elsewhere(follow_up.ticket)) {
            for_others_[&chunk].push_back(follow_up.own_index);
            continue;
          }
          // A range that began before the session does not belong to it.
          if (follow_up.kind == SlotKind::kEnd &&
              follow_up.ticket >= input_.first_ticket) {
            shard_.ledger.Add(model::Loss::kEndsWithoutBegin, 1);
          }
          continue;
        }
        // A forked child ends its copies of the ranges that its parent had
        // open.
        if (PidOf(*target) != PidOf(chunk)) continue;
        if (follow_up.kind == SlotKind::kEnd) {
          End(*target, follow_up, chunk.view->stream);
        } else {
          AddPayload(*target, follow_up);
        }
      }
    }
  }

  // Only a range without an end in its own slot can be ended by another record.
  // The first such end counts.
  void End(Chunk& target, const FollowUp& end, uint32_t stream) {
    const std::vector<OpenRange>& open = target.rest.open;
    const auto range = std::lower_bound(
        open.begin(), open.end(), end.index,
        [](const OpenRange& r, uint32_t index) { return r.index < index; });
    if (range == open.end() || range->index != end.index) return;
    model::EventColumns& events = shard_.block;
    if (events.end_ns[range->row] != 0) return;
    events.end_ns[range->row] = end.time_ns;
    if (target.view->stream != stream) {
      events.flags[range->row] |= model::kEventAsync;
    }
  }

  void AddPayload(Chunk& target, const FollowUp& extra) {
    std::vector<uint32_t>& rows = rows_[&target];
    if (rows.empty()) rows = chunk_decoder_.RowsOf(target);
    const uint32_t slot = extra.index - target.view->first_index;
    if (slot >= rows.size() || rows[slot] == ChunkDecoder::kNoRow) return;
    target.rest.payloads.push_back(
        {extra.payload, target.first_row + rows[slot]});
  }

  // Payloads of one record are read in the order in which they were written.
  void ReadPayloads(Chunk& chunk) {
    std::vector<PendingPayload>& payloads = chunk.rest.payloads;
    const auto by_row = [](const PendingPayload& a, const PendingPayload& b) {
      return a.row < b.row;
    };
    if (!std::is_sorted(payloads.begin(), payloads.end(), by_row)) {
      std::stable_sort(payloads.begin(), payloads.end(), by_row);
    }
    std::vector<std::span<const Slot>> of_record;
    for (size_t begin = 0; begin < payloads.size();) {
      const size_t row = payloads[begin].row;
      const uint32_t domain = payloads[begin].domain;
      of_record.clear();
      for (; begin < payloads.size() && payloads[begin].row == row; ++begin) {
        of_record.push_back(payloads[begin].payload);
      }
      payloads_.ReadEvent(shard_.block, row, PidOf(chunk), domain, of_record);
    }
  }

  void ReadMappings() {
    if (!input_.mapping) return;
    for (const Chunk& chunk : chunks_) {
      for (const std::span<const Slot> payload : chunk.rest.mappings) {
        if (payload.size() < 2) continue;
        record::MappingPayload mapping;
        std::memcpy(&mapping, payload.data(), sizeof(mapping));
        const std::span<const Slot> text = payload.subspan(1);
        const char* const path = reinterpret_cast<const char*>(text.data());
        input_.mapping(PidOf(chunk), mapping,
                       {path, strnlen(path, text.size_bytes())});
      }
    }
  }

  void ReadCounters() {
    for (const Chunk& chunk : chunks_) {
      for (const PendingCounter& counter : chunk.rest.counters) {
        shard_.counters.push_back({chunk.track, names_.Map(counter.name),
                                   counter.time_ns, counter.value});
      }
    }
  }

  void ReadResources() {
    std::vector<Resource> resources;
    for (const Chunk& chunk : chunks_) {
      for (const NamedResource& named : chunk.rest.resources) {
        resources.push_back({.pid = PidOf(chunk),
                             .kind = named.kind,
                             .handle = named.handle,
                             .name = names_.Map(named.name),
                             .domain = named.domain == record::kNameLost
                                           ? model::kEmptyName
                                           : names_.Map(named.domain)});
      }
    }
    AddResources(resources, shard_);
  }

  void ReadMemoryStacks() {
    for (const Chunk& chunk : chunks_) {
      if (chunk.rest.memory_stacks.empty()) continue;
      for (const PendingStack& pending : chunk.rest.memory_stacks) {
        shard_.memory[pending.row].stack =
            payloads_.ReadStack(pending.payload, PidOf(chunk));
      }
      if (input_.release) input_.release(*chunk.view);
    }
  }

  std::vector<DecodedChunk> Decoded() {
    std::vector<DecodedChunk> decoded;
    for (Chunk& chunk : chunks_) {
      std::erase_if(chunk.rest.open, [this](const OpenRange& range) {
        return shard_.block.end_ns[range.row] != 0;
      });
      DecodedChunk& result =
          decoded.emplace_back(DecodedChunk{.view = *chunk.view,
                                            .first_row = chunk.first_row,
                                            .event_count = chunk.event_count,
                                            .open = std::move(chunk.rest.open),
                                            .for_others = {},
                                            .replaced_ns = 0,
                                            .thread_has_ended = false});
      const auto others = for_others_.find(&chunk);
      if (others != for_others_.end()) result.for_others = others->second;
    }
    return decoded;
  }

  const DecodeInput& input_;
  model::TraceShard& shard_;
  NameMap names_;
  PayloadDecoder payloads_;
  const ChunkDecoder chunk_decoder_;
  std::vector<Chunk> chunks_;  // by stream, then ticket
  std::unordered_map<uint64_t, size_t> by_ticket_;
  std::unordered_map<const Chunk*, std::vector<uint32_t>> rows_;
  std::unordered_map<const Chunk*, std::vector<uint32_t>> for_others_;
};

}  // namespace

std::vector<DecodedChunk> DecodeChunks(const DecodeInput& input,
                                       model::TraceShard& shard) {
  return Decoder(input, shard).Run();
}

}  // namespace kymo::stream
