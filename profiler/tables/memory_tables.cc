#include <optional>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

using model::MemoryRecord;

const MemoryRecord& RecordOf(const Source& s, size_t row) {
  return s.trace().memory()[row];
}

TextId KindOf(const Source& s, size_t row) {
  if (RecordOf(s, row).event == model::MemoryEvent::kOutOfMemory) {
    return s.texts().out_of_memory();
  }
  const analysis::MemoryBlocks blocks(s.trace());
  return blocks.IsFree(static_cast<model::MemoryIndex>(row))
             ? s.texts().free()
             : s.texts().allocation();
}

constexpr Column kMemory[] = {
    Define("id", "Number of the record",
           [](const Source&, size_t row) { return row; }),
    Define("track_id", "The thread that allocated or freed",
           [](const Source& s, size_t row) { return RecordOf(s, row).track; })
        .Of("tracks.id"),
    Define("time_ns", "When, since the epoch",
           [](const Source& s, size_t row) { return RecordOf(s, row).time_ns; })
        .In("ns"),
    Define("kind", "allocation, free or out_of_memory",
           [](const Source& s, size_t row) { return KindOf(s, row); }),
    Define("source",
           "Who said so: heap, mapped or reported; do not add them up",
           [](const Source& s, size_t row) {
             return s.texts().memory_source(RecordOf(s, row).source);
           }),
    Define("device_type", "CPU, CUDA, ...",
           [](const Source& s, size_t row) {
             return Unless(s.texts().device_type(RecordOf(s, row).device_type),
                           kNoText);
           }),
    Define("device", "The device's number; NULL of the host",
           [](const Source& s, size_t row) {
             return Unless(RecordOf(s, row).device_index, -1);
           }),
    Define("address", "The block's address",
           [](const Source& s, size_t row) {
             return Unless(RecordOf(s, row).address, 0);
           }),
    Define("bytes", "Bytes of the block; negative of a free",
           [](const Source& s, size_t row) { return RecordOf(s, row).bytes; })
        .In("bytes"),
    Define("weight",
           "For how many records it stands; more than 1 where the heap was "
           "sampled",
           [](const Source& s, size_t row) {
             const MemoryRecord& record = RecordOf(s, row);
             return record.source == model::MemorySource::kHeap
                        ? model::MemorySampleWeight(
                              record.bytes, s.trace().memory_sample_interval())
                        : 1.0;
           }),
    Define("total_allocated",
           "Bytes allocated in all of its source and device afterwards",
           [](const Source& s, size_t row) {
             return Unless(RecordOf(s, row).total_allocated, 0);
           })
        .In("bytes"),
    Define("total_reserved",
           "Bytes reserved in all of its source and device afterwards",
           [](const Source& s, size_t row) {
             return Unless(RecordOf(s, row).total_reserved, 0);
           })
        .In("bytes"),
    Define("stack_id", "The calls that allocated or freed",
           [](const Source& s, size_t row) -> std::optional<uint32_t> {
             return Unless(Index(RecordOf(s, row).stack), 0);
           })
        .Of("stacks.id"),
    Define("partner_id",
           "The free of this allocation, or the allocation of this free",
           [](const Source& s, size_t row) {
             return Unless(RecordOf(s, row).partner, model::kNoMemory);
           })
        .Of("memory.id"),
};

const MemoryByStack& MemorySumOf(const Source& s, size_t row) {
  return s.memory_by_stack()[row];
}

constexpr Column kByStack[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define("pid", "The process's id",
           [](const Source& s, size_t row) { return MemorySumOf(s, row).pid; }),
    Define("source",
           "Who said so: heap, mapped or reported; do not add them up",
           [](const Source& s, size_t row) {
             return s.texts().memory_source(MemorySumOf(s, row).source);
           }),
    Define("device_type", "CPU, CUDA, ...",
           [](const Source& s, size_t row) {
             return Unless(
                 s.texts().device_type(MemorySumOf(s, row).device_type),
                 kNoText);
           }),
    Define("device", "The device's number; NULL of the host",
           [](const Source& s, size_t row) {
             return Unless(MemorySumOf(s, row).device_index, -1);
           }),
    Define("stack_id", "The calls that allocated; NULL: not recorded",
           [](const Source& s, size_t row) {
             return Unless(Index(MemorySumOf(s, row).stack), 0);
           })
        .Of("stacks.id"),
    Define("allocations", "How many blocks were allocated",
           [](const Source& s, size_t row) {
             return MemorySumOf(s, row).allocated.count();
           }),
    Define("allocated_bytes", "Their bytes",
           [](const Source& s, size_t row) {
             return MemorySumOf(s, row).allocated.bytes;
           })
        .In("bytes"),
    Define("alive", "How many of them nobody had freed at the end",
           [](const Source& s, size_t row) {
             return MemorySumOf(s, row).alive.count();
           }),
    Define("alive_bytes", "Their bytes",
           [](const Source& s, size_t row) {
             return MemorySumOf(s, row).alive.bytes;
           })
        .In("bytes"),
};

}  // namespace

Table MemoryTable() {
  return {
      .name = "memory",
      .meaning =
          "An allocation, a free or a failed allocation; none where "
          "the heap was only summed up (allocations_by_stack)",
      .order = "track, time",
      .example =
          "select kind, count(*), sum(bytes) from memory "
          "where source = 'heap' group by kind",
      .columns = kMemory,
      .row_count = [](const Source& s) { return s.trace().memory().size(); }};
}

Table AllocationsByStackTable() {
  return {
      .name = "allocations_by_stack",
      .meaning = "What one stack of a process allocated",
      .order = "pid, source, device, stack",
      .example =
          "select stack_text(stack_id), allocated_bytes "
          "from allocations_by_stack where source = 'heap' "
          "order by 2 desc limit 5",
      .columns = kByStack,
      .row_count = [](const Source& s) { return s.memory_by_stack().size(); }};
}

}  // namespace kymo::tables
