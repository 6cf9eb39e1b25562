#include "backends/stream/decode/arena_shard.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backends/stream/decode/decode.h"
#include "backends/stream/decode/handed_on.h"
#include "backends/stream/decode/process_stacks.h"
#include "backends/stream/decode/program_images.h"
#include "backends/stream/decode/program_starts.h"
#include "profiler/base/available_memory.h"

namespace kymo::stream {
namespace {

using model::Loss;
using record::Arena;

std::string_view UpToNul(const char* text, size_t size) {
  return {text, strnlen(text, size)};
}

std::string ThreadName(const Arena& arena, const record::StreamEntry& stream) {
  const uint64_t explicit_name =
      stream.explicit_name.load(std::memory_order_relaxed);
  if (explicit_name != 0) {
    return std::string(
        arena.NameText(static_cast<uint32_t>(explicit_name - 1)));
  }
  uint64_t words[2];
  for (int i = 0; i < 2; ++i) {
    words[i] = stream.name[i].load(std::memory_order_relaxed);
  }
  char text[sizeof(words)];
  std::memcpy(text, words, sizeof(words));
  return std::string(UpToNul(text, sizeof(text)));
}

void AddProcesses(const ArenaShardInput& input, model::TraceShard& shard) {
  const Arena& arena = input.arena;
  for (uint32_t i = 0; i < arena.process_count(); ++i) {
    const record::ProcessEntry& entry = arena.process(i);
    // acquire: the rest of the entry was written before.
    const int32_t pid = entry.pid.load(std::memory_order_acquire);
    if (pid == 0) continue;
    std::string command_line(entry.command_line, sizeof(entry.command_line));
    command_line.resize(command_line.find_last_not_of('\0') + 1);
    for (char& c : command_line) {
      if (c == '\0') c = ' ';
    }
    shard.processes.push_back(
        {.pid = pid,
         .parent_pid = entry.parent_pid,
         .name = shard.strings.Intern(UpToNul(entry.name, sizeof(entry.name))),
         .command_line = shard.strings.Intern(command_line),
         // Unsigned arithmetic, since a broken target may have written any
         // number.
         .start_ns = static_cast<TimeNs>(
             static_cast<uint64_t>(entry.attach_monotonic_ns) +
             static_cast<uint64_t>(input.epoch_offset_ns))});
  }
}

// Name ids are offsets in the table of texts, in units of 8 bytes. A broken
// target may have written any number for the bytes in use.
uint32_t NameLimit(const Arena& arena) {
  constexpr uint64_t kMaxNameTextBytes = uint64_t{64} << 20;
  const uint64_t used =
      arena.header().name_text_used.load(std::memory_order_relaxed);
  return static_cast<uint32_t>(std::min(used, kMaxNameTextBytes) / 8);
}

model::TrackIndex AddTrack(const Arena& arena, uint32_t stream_id,
                           model::TraceShard& shard) {
  const record::StreamEntry& stream = arena.stream(stream_id);
  shard.tracks.push_back(
      {.kind = model::TrackKind::kThread,
       .pid = stream.pid.load(std::memory_order_acquire),
       .id = stream.tid.load(std::memory_order_relaxed),
       .name = shard.strings.Intern(ThreadName(arena, stream)),
       .logical_id = stream.logical_thread.load(std::memory_order_relaxed)});
  return static_cast<model::TrackIndex>(shard.tracks.size() - 1);
}

// Tracks for the streams that some chunk belongs to.
std::vector<model::TrackIndex> AddTracks(const ArenaShardInput& input,
                                         model::TraceShard& shard) {
  std::vector<model::TrackIndex> tracks(input.arena.stream_count(),
                                        model::kNoTrack);
  for (const record::ChunkView& chunk : input.chunks) {
    if (chunk.stream < tracks.size() &&
        tracks[chunk.stream] == model::kNoTrack) {
      tracks[chunk.stream] = AddTrack(input.arena, chunk.stream, shard);
    }
  }
  return tracks;
}

// When the threads of the tracks ended, as far as they said so themselves.
void AddThreadEnds(const ArenaShardInput& input,
                   const std::vector<model::TrackIndex>& tracks,
                   model::TraceShard& shard) {
  shard.thread_ends.resize(shard.tracks.size());
  for (uint32_t stream = 0; stream < tracks.size(); ++stream) {
    if (tracks[stream] == model::kNoTrack) continue;
    const int64_t end_ns = input.arena.heap_counts(stream).thread_end_ns.load(
        std::memory_order_relaxed);
    // A broken target may have written anything.
    if (end_ns <= 0) continue;
    shard.thread_ends[tracks[stream]] =
        static_cast<TimeNs>(static_cast<uint64_t>(end_ns) +
                            static_cast<uint64_t>(input.epoch_offset_ns));
  }
}

// The heap's counts since the session's start, also of threads without records.
void AddHeapCounts(const ArenaShardInput& input,
                   std::vector<model::TrackIndex>& tracks,
                   model::TraceShard& shard) {
  std::vector<HeapNumbers> counts = ReadHeapNumbers(input.arena);
  counts.resize(tracks.size());
  for (uint32_t stream = 0; stream < counts.size(); ++stream) {
    HeapNumbers& count = counts[stream];
    if (stream < input.heap_at_start.size()) {
      const HeapNumbers& before = input.heap_at_start[stream];
      count.allocations -= before.allocations;
      count.frees -= before.frees;
      count.allocated_bytes -= before.allocated_bytes;
    }
    if (count.allocations == 0 && count.frees == 0) continue;
    if (tracks[stream] == model::kNoTrack) {
      tracks[stream] = AddTrack(input.arena, stream, shard);
    }
    shard.allocation_counts.push_back(
        {.track = tracks[stream],
         .allocations = count.allocations,
         .frees = count.frees,
         .allocated_bytes = count.allocated_bytes});
  }
}

// The number of records that fit into three quarters of the available memory.
// The analysis takes about 100 bytes per record at its peak.
size_t MemoryRecordLimit() {
  constexpr size_t kBytesPerRecord = 100;
  return AvailableMemoryBytes() / 4 * 3 / kBytesPerRecord;
}

// Events in chunks that a thread is taking from another stream, but has not
// counted yet. If that thread died, it never will.
uint64_t BeingOverwritten(const Arena& arena) {
  uint64_t events = 0;
  for (uint32_t chunk = 0; chunk < arena.high_water(); ++chunk) {
    const record::ChunkWord& word = arena.word(chunk);
    if (word.ticket.load(std::memory_order_acquire) != 0 ||
        record::OwnerState(word.owner.load(std::memory_order_relaxed)) !=
            record::ChunkState::kOwned) {
      continue;
    }
    const uint32_t read =
        std::min(word.read_slots.load(std::memory_order_acquire),
                 record::kSlotsPerChunk);
    record::ForEachRecord(
        {.slots = {arena.slots(chunk) + read, record::kSlotsPerChunk - read}},
        [&](const record::Slot& head, std::span<const record::Slot>, uint32_t) {
          events += record::IsEvent(record::UnpackKind(head.kind_scope_depth));
        });
  }
  return events;
}

// What the target could not record.
void AddLosses(const ArenaShardInput& input, model::TraceShard& shard) {
  const LossCounters& before = input.losses_at_start;
  const LossCounters now = ReadLosses(input.arena);
  shard.ledger.Add(Loss::kEventsDroppedArenaFull, now.dropped - before.dropped);
  shard.ledger.Add(input.was_to_hold_time ? Loss::kEventsDroppedArenaFull
                                          : Loss::kEventsOverwritten,
                   now.overwritten - before.overwritten);
  shard.ledger.Add(Loss::kEventsDroppedInHandlers,
                   now.dropped_in_handlers - before.dropped_in_handlers);
  shard.ledger.Add(Loss::kEventsDroppedNoStream,
                   now.without_stream - before.without_stream);
  shard.ledger.Add(Loss::kNamesDroppedTableFull,
                   now.names_lost - before.names_lost);
  shard.ledger.Add(Loss::kArgumentsTruncated,
                   now.texts_truncated - before.texts_truncated);
  shard.ledger.Add(Loss::kHeapSamplesLost,
                   now.heap_samples_lost - before.heap_samples_lost);
  shard.ledger.Add(Loss::kHeapsNotWatched,
                   now.heaps_not_watched - before.heaps_not_watched);
  if (input.with_children) {
    shard.ledger.Add(
        Loss::kProcessesNotRecorded,
        now.processes_not_recorded - before.processes_not_recorded);
  }
}

}  // namespace

LossCounters ReadLosses(const Arena& arena) {
  const record::ArenaHeader& header = arena.header();
  LossCounters losses;
  losses.overwritten = BeingOverwritten(arena);
  losses.dropped_in_handlers =
      header.dropped_in_handlers.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < arena.stream_count(); ++i) {
    const record::StreamEntry& stream = arena.stream(i);
    losses.dropped += stream.dropped.load(std::memory_order_relaxed);
    losses.overwritten += stream.overwritten.load(std::memory_order_relaxed);
  }
  losses.without_stream =
      header.events_without_stream.load(std::memory_order_relaxed);
  losses.names_lost = header.names_lost.load(std::memory_order_relaxed);
  losses.texts_truncated =
      header.texts_truncated.load(std::memory_order_relaxed);
  losses.heap_samples_lost =
      header.heap_samples_lost.load(std::memory_order_relaxed);
  losses.heaps_not_watched =
      header.heaps_not_watched.load(std::memory_order_relaxed);
  losses.processes_not_recorded = CountUnrecorded(arena);
  return losses;
}

std::vector<HeapNumbers> ReadHeapNumbers(const Arena& arena) {
  std::vector<HeapNumbers> numbers(arena.stream_count());
  for (uint32_t stream = 0; stream < numbers.size(); ++stream) {
    const record::HeapCounts& counts = arena.heap_counts(stream);
    numbers[stream] = {
        .allocations = counts.allocations.load(std::memory_order_relaxed),
        .frees = counts.frees.load(std::memory_order_relaxed),
        .allocated_bytes =
            counts.allocated_bytes.load(std::memory_order_relaxed)};
  }
  return numbers;
}

std::vector<DecodedChunk> FillShard(ArenaShardInput input,
                                    model::TraceShard& shard) {
  if (input.with_losses) AddLosses(input, shard);
  AddProcesses(input, shard);
  std::vector<model::TrackIndex> tracks = AddTracks(input, shard);
  if (input.with_memory) AddHeapCounts(input, tracks, shard);
  AddThreadEnds(input, tracks, shard);
  shard.memory_sample_interval =
      static_cast<double>(input.heap_sample_interval);
  const Arena& arena = input.arena;
  ProcessStacks stacks(&shard);
  DecodeInput decode = {
      .chunks = std::move(input.chunks),
      .stream_tracks = std::move(tracks),
      .name_text = [&arena](uint32_t id) { return arena.NameText(id); },
      .name_limit = NameLimit(arena),
      .clock = input.clock,
      .first_ticket = input.first_ticket,
      .recorded = std::move(input.recorded),
      .mapping = nullptr,
      .stack = nullptr,
      .details = input.details,
      .with_memory = input.with_memory,
      .memory_limit = input.only_ranges ? 0 : MemoryRecordLimit(),
      .fold_heap_above = input.heap_sample_interval == 0 ? input.fold_heap_above
                                                         : ~uint64_t{0},
      .others_record_ranges = input.others_record_ranges,
      .release = std::move(input.release),
      .is_elsewhere = std::move(input.is_elsewhere)};
  if (!input.only_ranges) {
    decode.mapping = [&](int64_t pid, const record::MappingPayload& mapping,
                         std::string_view path) {
      stacks.AddMapping(pid, mapping, path);
    };
    decode.stack = [&](int64_t pid, std::span<const uint64_t> pcs) {
      return stacks.Add(pid, pcs);
    };
  }
  std::vector<DecodedChunk> decoded = DecodeChunks(decode, shard);
  // To fold a heap takes more memory than the sums, and so do names.
  const bool is_folded = shard.folded_memory != nullptr;
  if (is_folded) malloc_trim(0);
  stacks.Name();
  if (is_folded) malloc_trim(0);
  const ProgramImages images(arena, input.epoch_offset_ns);
  for (DecodedChunk& chunk : decoded) {
    if (chunk.open.empty()) continue;
    chunk.replaced_ns = images.ReplacedNs(chunk.view.stream);
    chunk.thread_has_ended = HasEnded(arena, chunk.view.stream);
  }
  // Otherwise chunks of other calls may hold the ends.
  if (!decode.is_elsewhere) {
    MarkHandedOn(decoded, shard.block);
    EndReplaced(decoded, shard.block);
  }
  return decoded;
}

}  // namespace kymo::stream
