// gpu_record.h - the records of a device's work, as the program writes them.
//
// A log is a sequence of records. Each has a RecordHeader and a body, padded to
// 8 bytes. CUPTI's own records differ from version to version and point into
// the program; these records do neither. So a log can be read when the program
// is gone, kept in a file, and replayed in a test:
//
//   kText 1 "sgemm"  kDevice 0  kContext 1  kCall ...  kKernel name=1 ...
//
// - A text comes before the records that name it; id 0 is no text.
// - Times are ns of the log's clock (AnchorRecord); 0 = CUPTI had none.
// - Ids of devices, contexts, streams and correlations are CUPTI's. The stream
//   kNoStream means none.
// - A record may be shorter than its struct, if it is of an older CUPTI:
//   missing fields are 0. It may be longer, if it is of a newer Kymo: the rest
//   is ignored.
//
// The reader trusts nothing in it.
#ifndef KYMO_BACKENDS_CUPTI_LOG_GPU_RECORD_H_
#define KYMO_BACKENDS_CUPTI_LOG_GPU_RECORD_H_

#include <cstdint>
#include <type_traits>

namespace kymo::cupti {

enum class RecordKind : uint16_t {
  kText = 1,
  kKernel,
  kCopy,
  kSet,
  kCall,
  kSync,
  kEvent,
  kGraph,
  kMemory,
  kPool,
  kUnified,
  kOverhead,
  kDevice,
  kContext,
  kStream,
  kExternal,
  kAnchor,
  kLoss,
  kMarker,
  kMarkerData,
  kName,
  kRefused,
  kEnd,  // one more than the last
};

inline constexpr uint32_t kNoStream = 0xffffffffu;
inline constexpr uint64_t kNoEventSync = 0;

struct RecordHeader {
  RecordKind kind;
  uint16_t words;  // in units of 8 bytes, with the header
  uint32_t name;   // text id; in kText: the id of this text
};
static_assert(sizeof(RecordHeader) == 8);

// Longer texts are cut there, even in the middle of a character.
inline constexpr uint32_t kMaxTextBytes = 16 * 1024;

// The text follows.
struct TextRecord {
  RecordHeader header;
  uint64_t size_bytes;
};

struct KernelRecord {
  RecordHeader header;
  uint64_t start, end;
  uint64_t queued, submitted;  // if kCaptureLatency is set
  uint32_t device, context, stream, correlation;
  int32_t grid[3], block[3];
  uint32_t static_shared, dynamic_shared;  // bytes
  uint32_t registers;                      // per thread
  uint32_t local_memory;                   // bytes per thread
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel, channel_type;
  uint32_t cluster[3];
};

// A copy; `is_peer`: between two devices.
struct CopyRecord {
  RecordHeader header;
  uint64_t start, end, bytes;
  uint32_t device, context, stream, correlation;
  uint8_t copy_kind, from_kind, to_kind;  // CUPTI's numbers
  uint8_t flags;                          // 1: asynchronous
  uint32_t is_peer;
  uint32_t from_device, from_context, to_device, to_context;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel, channel_type;
  uint32_t reserved;
};

struct SetRecord {
  RecordHeader header;
  uint64_t start, end, bytes;
  uint32_t device, context, stream, correlation;
  uint32_t memory_kind, value;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel, channel_type;
  uint32_t flags;
};

enum class CallDomain : uint32_t { kRuntime = 0, kDriver = 1 };

// A call of the runtime or the driver; the header names it.
struct CallRecord {
  RecordHeader header;
  uint64_t start, end;
  uint32_t process, thread, correlation, cbid;
  CallDomain domain;
  int32_t result;
};

struct SyncRecord {
  RecordHeader header;
  uint64_t start, end;
  uint32_t type;  // CUPTI's number
  uint32_t context, stream, correlation;
  uint32_t event;
  int32_t result;       // of the call; not 0: work was left
  uint64_t event_sync;  // one recording of an event; or kNoEventSync
};

// cudaEventRecord.
struct EventRecord {
  RecordHeader header;
  uint64_t time;  // on the device; 0 = not measured
  uint32_t device, context, stream, correlation;
  uint32_t event;
  uint32_t has_device;  // 0: an older CUPTI, which does not tell
  uint64_t event_sync;
};

// A launched graph as a whole, if its nodes are not recorded.
struct GraphRecord {
  RecordHeader header;
  uint64_t start, end;
  uint32_t device, context, stream, correlation;
  uint32_t graph;
  uint32_t reserved;
};

// An allocation (`operation` 1) or a free (2).
struct MemoryRecord {
  RecordHeader header;
  uint64_t time, address, bytes;
  uint64_t pool_address, pool_size, pool_used;
  uint32_t device, context, stream, correlation;
  uint32_t process;
  uint8_t operation, memory_kind, is_async, pool_type;
};

// A pool was created (1), destroyed (2) or trimmed (3).
struct PoolRecord {
  RecordHeader header;
  uint64_t time, address, size, used, release_threshold, keep_bytes;
  uint32_t operation, pool_type, process, device, correlation;
  uint32_t reserved;
};

struct UnifiedRecord {
  RecordHeader header;
  uint64_t start, end, value, address;
  uint32_t counter;  // CUPTI's number
  uint32_t from, to, stream, process;
  uint32_t flags;
};

struct OverheadRecord {
  RecordHeader header;
  uint64_t start, end;
  uint32_t overhead;  // CUPTI's number
  uint32_t thread;    // 0 = belongs to no thread
  uint32_t process;
  uint32_t correlation;
};

// A device; the header has its name.
struct DeviceRecord {
  RecordHeader header;
  uint64_t memory_bytes;
  uint64_t memory_bandwidth;  // kB/s
  uint32_t id, major, minor;
  uint32_t multiprocessors, warp_size;
  uint32_t max_warps, max_blocks;                // per multiprocessor
  uint32_t max_shared, max_registers;            // per multiprocessor, bytes
  uint32_t block_shared, block_registers;        // per block
  uint32_t block_threads, core_clock, l2_cache;  // kHz, bytes
  uint32_t is_hidden;  // 1: CUDA_VISIBLE_DEVICES hides it
  uint32_t reserved;
};

struct ContextRecord {
  RecordHeader header;
  uint32_t id, device, null_stream, api;
};

struct StreamRecord {
  RecordHeader header;
  uint32_t id, context, priority, flag;
};

// Work with `correlation` belongs to `id`, an id of the program's own.
struct ExternalRecord {
  RecordHeader header;
  uint64_t id;
  uint32_t kind;  // CUPTI's number
  uint32_t correlation;
};

// CUpti_ActivityFlag of a marker. Other flags are for synchronisation objects.
enum MarkerPhase : uint32_t {
  kMarkerInstant = 1,
  kMarkerStart = 2,
  kMarkerEnd = 4,
};

// A call of NVTX, as CUPTI reports it; the header has its text.
struct MarkerRecord {
  RecordHeader header;
  uint64_t time;
  uint32_t id;     // a range's start and end share it
  uint32_t phase;  // MarkerPhase bits
  uint32_t process;
  uint32_t thread;  // 0 = none: a range that any thread may end
  uint32_t domain;  // text id; 0 = the default domain
  uint32_t reserved;
};

// CUpti_MetricValueKind, as far as payloads use it.
enum class MarkerPayload : uint32_t {
  kDouble = 0,
  kUint64 = 1,
  kInt64 = 4,
  kExtended = 6,  // with a schema
};

// More about the marker with this id.
struct MarkerDataRecord {
  RecordHeader header;
  uint64_t payload;  // the bits of a number
  MarkerPayload payload_kind;
  uint32_t id;
  uint32_t color;  // ARGB
  uint32_t has_color;
  uint32_t category;
  uint32_t reserved;
};

// CUpti_ActivityObjectKind, as far as names are shown.
enum class NamedObject : uint32_t { kThread = 2, kStream = 5 };

// The program's name for a thread or a stream; the header has the name.
struct NameRecord {
  RecordHeader header;
  NamedObject object;
  uint32_t process, thread;
  uint32_t device, context, stream;
};

// CUPTI refused to record something; the header has the text: what, and why.
struct RefusedRecord {
  RecordHeader header;
  uint32_t kind;  // CUPTI's number; 0: a setting
  int32_t status;
};

enum class LogClock : uint32_t {
  kMonotonic = 0,  // times are CLOCK_MONOTONIC: CUPTI took our clock
  kCupti = 1,      // times are CUPTI's own clock
};

// One instant on both clocks. The log's clock is read between two reads of
// ours.
struct AnchorRecord {
  RecordHeader header;
  uint64_t log_ns;
  uint64_t monotonic_ns;
  uint64_t uncertainty_ns;
  LogClock clock;
  uint32_t reserved;
};

enum class LossReason : uint32_t {
  kDropped = 0,  // records for which CUPTI had no buffer
  kUnknown = 1,  // records of kinds that Kymo does not know
  kTexts = 2,    // texts for which the table had no room
  kBroken = 3,   // parts of buffers that CUPTI cannot read
  kForeign = 4,  // buffers that an earlier client left with CUPTI
};

struct LossRecord {
  RecordHeader header;
  uint64_t count;
  LossReason reason;
  uint32_t reserved;
};

template <typename R>
inline constexpr bool kIsRecord = std::is_trivially_copyable_v<R> &&
                                  sizeof(R) % 8 == 0 && alignof(R) <= 8;
static_assert(kIsRecord<KernelRecord> && kIsRecord<CopyRecord> &&
              kIsRecord<SetRecord> && kIsRecord<CallRecord> &&
              kIsRecord<SyncRecord> && kIsRecord<EventRecord> &&
              kIsRecord<GraphRecord> && kIsRecord<MemoryRecord> &&
              kIsRecord<PoolRecord> && kIsRecord<UnifiedRecord> &&
              kIsRecord<OverheadRecord> && kIsRecord<DeviceRecord> &&
              kIsRecord<ContextRecord> && kIsRecord<StreamRecord> &&
              kIsRecord<ExternalRecord> && kIsRecord<AnchorRecord> &&
              kIsRecord<LossRecord> && kIsRecord<TextRecord> &&
              kIsRecord<MarkerRecord> && kIsRecord<MarkerDataRecord> &&
              kIsRecord<NameRecord> && kIsRecord<RefusedRecord>);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOG_GPU_RECORD_H_
