// records.h - the plain parts that shards and traces are made of.
//
// Everything is a value; ids index the tables of the shard or trace that holds
// it. Times are TimeNs (ns since the epoch).
#ifndef KYMO_PROFILER_MODEL_RECORDS_H_
#define KYMO_PROFILER_MODEL_RECORDS_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "profiler/base/time.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::model {

using TrackIndex = uint32_t;
using EventIndex = uint32_t;
using DetailIndex = uint32_t;
using RareIndex = uint32_t;
inline constexpr EventIndex kNoEvent = ~EventIndex{0};
inline constexpr DetailIndex kNoDetail = ~DetailIndex{0};
inline constexpr RareIndex kNoRare = ~RareIndex{0};
inline constexpr TrackIndex kNoTrack = ~TrackIndex{0};

// Bits of an event's flags.
enum EventFlag : uint8_t {
  kEventInstant = 1,  // a point: end == start
  kEventOpen = 2,     // never ended; end is where the recording ended
  kEventAsync = 4,    // ended elsewhere than it began: no parent, no children
  kEventModule = 8,   // a module: part of the hierarchy of its children
  // Only in a trace that is one window of a larger trace: the event counts in
  // another window. It is here because it encloses events of this window.
  kEventRepeated = 16,
  // Stands for RareDetail::calls ranges of its name that were beside each
  // other. Its length is the sum of theirs. Only read from files that were
  // folded.
  kEventFolded = 32,
};

// Whether an event with these flags may have children: the others are points,
// or ended elsewhere than they began.
constexpr bool IsRange(uint8_t flags) {
  return (flags & (kEventInstant | kEventAsync)) == 0;
}

struct Process {
  int64_t pid = 0;
  int64_t parent_pid = 0;    // 0 = not known
  NameId name = kEmptyName;  // short, as the kernel shows it
  NameId command_line = kEmptyName;
  TimeNs start_ns = 0;  // 0 = not known
  TimeNs end_ns = 0;
};

enum class TrackKind : uint8_t {
  kThread,  // `id` is the system thread id
  kStream,  // `id` is the stream of device `device_index`
};

// In Kineto's files, waits for a stream stand in a row beside the stream, so
// that they hide no kernel. That row is a stream track, whose id is the
// stream's id plus kSyncRows.
inline constexpr int64_t kSyncRows = 1'000'000;

// One line of the timeline.
struct Track {
  TrackKind kind = TrackKind::kThread;
  int64_t pid = 0;  // of a stream: the process that used it
  int64_t id = 0;
  int32_t device_index = -1;  // streams only
  NameId name = kEmptyName;
  // PyTorch's thread id: it counts the threads of a process from 1, in the
  // order in which they first asked for an id. 0 = not known.
  uint64_t logical_id = 0;
};

// Fields that only some events have. Of Kineto's files, each operation has one.
struct Detail {
  uint64_t correlation_id = 0;  // 0 = none
  uint32_t args_begin = 0;      // into the arguments, in the order added
  uint32_t args_end = 0;
  int64_t sequence_nr = -1;  // links backward to forward; -1 = none
  NameId overload_name = kEmptyName;
  NameId inputs = kEmptyName;   // encoded, see profiler/model/op_inputs.h
  StackId stack = kEmptyStack;  // where the event began
  RareIndex rare = kNoRare;     // the other fields: rare_details.h
};
static_assert(sizeof(Detail) == 40);

enum class ArgType : uint8_t {
  kInt,
  kDouble,
  kString,
  kJson,  // a value that is JSON text: a list of numbers, say
};

// A named argument of an event.
struct Arg {
  NameId key = kEmptyName;
  ArgType type = ArgType::kInt;
  uint64_t bits = 0;

  static Arg Int(NameId key, int64_t value) {
    return {key, ArgType::kInt, static_cast<uint64_t>(value)};
  }
  static Arg Double(NameId key, double value) {
    return {key, ArgType::kDouble, std::bit_cast<uint64_t>(value)};
  }
  static Arg String(NameId key, NameId value) {
    return {key, ArgType::kString, Index(value)};
  }
  static Arg Json(NameId key, NameId value) {
    return {key, ArgType::kJson, Index(value)};
  }
  int64_t int_value() const { return static_cast<int64_t>(bits); }
  double double_value() const { return std::bit_cast<double>(bits); }
  bool has_text() const {
    return type == ArgType::kString || type == ArgType::kJson;
  }
  NameId string_value() const { return NameId{static_cast<uint32_t>(bits)}; }
};

// A counter's value from `time_ns` on.
struct CounterSample {
  TrackIndex track = 0;
  NameId name = kEmptyName;
  TimeNs time_ns = 0;
  double value = 0;
};

// One tick of the sampling profiler: the thread was on the CPU in `stack`.
struct StackSample {
  TrackIndex track = 0;
  StackId stack = kEmptyStack;
  TimeNs time_ns = 0;
  DurationNs weight_ns = 0;  // CPU time that this sample stands for
};

// Samples that are only added up: those of a thread in one stack.
struct SampleSum {
  TrackIndex track = 0;
  StackId stack = kEmptyStack;
  uint64_t count = 0;
  DurationNs weight_ns = 0;
};

// The kind of a memory record: PyTorch's [memory] or [OutOfMemory].
enum class MemoryEvent : uint8_t {
  kAllocation,     // bytes > 0, or a free: bytes < 0
  kOutOfMemory,    // bytes = what the program asked for
  kFreeOfUnknown,  // in shards only: normalisation finds the block's size
};

// The source that reported the memory. Each source is a layer of its own: the
// same bytes may be in a program's report, in the heap and in a mapping.
enum class MemorySource : uint8_t {
  kReported,  // the program (kymo/memory.h)
  kHeap,      // malloc and its family, operator new
  kMapped,    // mmap and its family
};

using MemoryIndex = uint32_t;
inline constexpr MemoryIndex kNoMemory = ~MemoryIndex{0};

// One allocation, free or failed allocation.
struct MemoryRecord {
  TrackIndex track = 0;
  MemoryEvent event = MemoryEvent::kAllocation;
  MemorySource source = MemorySource::kReported;
  int8_t device_type = 0;  // PyTorch's DeviceType; 0 = CPU
  int8_t device_index = -1;
  TimeNs time_ns = 0;
  uint64_t address = 0;
  int64_t bytes = 0;
  // Totals of the record's device and source after the event; 0 = not known.
  int64_t total_allocated = 0;
  int64_t total_reserved = 0;
  StackId stack = kEmptyStack;
  // Index of the matching record of the trace: the free of this allocation, or
  // the allocation of this free. If the address was allocated again without a
  // free, it is that next allocation. If an exec ended the block, it is the
  // first allocation of the next program. kNoMemory: not freed, or not known.
  MemoryIndex partner = kNoMemory;
};
static_assert(sizeof(MemoryRecord) == 56);

// How many allocations of `bytes` bytes one sample stands for, if one byte in
// `interval` is sampled on average: the inverse of the probability that at
// least one of the block's bytes is sampled. Negative `bytes` mean frees. 1
// where the interval is 0.
inline double MemorySampleWeight(int64_t bytes, double interval) {
  if (interval <= 0 || bytes == 0) return 1;
  return -1 / std::expm1(-std::abs(static_cast<double>(bytes)) / interval);
}

// A thread's use of the heap, where allocations are only counted, not recorded.
struct AllocationCounts {
  TrackIndex track = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t allocated_bytes = 0;
};

// One entry of the metadata; `value` is JSON text.
struct Metadata {
  NameId key = kEmptyName;
  NameId json_value = kEmptyName;
};

// The key of metadata that all parts of a split trace have in common
// (profiler/plugin/split_export.h).
inline constexpr std::string_view kRecordingKey = "kymo_recording";

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_RECORDS_H_
