#include "backends/sampling/perf_records.h"

#include <algorithm>
#include <cstring>

#include "backends/sampling/perf/time_name_space.h"
#include "backends/sampling/perf/tracepoint.h"

namespace kymo::sampling {
namespace {

// sample_id_all appends this to every record: pid, tid, time, cpu, reserved.
constexpr size_t kTrailerBytes = 24;
constexpr size_t kTrailerTimeOffset = 8;
constexpr size_t kSampleTimeOffset = 24;  // header, ip, pid + tid

// PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, which the oldest kernel headers that we
// build with do not have.
constexpr uint16_t kSwitchOutPreempt = 1U << 14;

// For each register of the kernel's order, its place in ours. The kernel's
// order is ax bx cx dx si di bp sp ip r8 ... r15.
constexpr int kFromKernelOrder[kRegisterCount] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};

// Reads from front to back. A read past the end gives zero and makes ok()
// false.
class Reader {
 public:
  explicit Reader(RecordBytes bytes) noexcept : bytes_(bytes) {}

  template <typename T>
  T Take() noexcept {
    T value{};
    const RecordBytes from = TakeBytes(sizeof(T));
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }

  RecordBytes TakeBytes(uint64_t size) noexcept {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const RecordBytes taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  // Takes a text up to its NUL; without a NUL, everything that is left.
  std::string_view TakeText() noexcept {
    const auto* const text = reinterpret_cast<const char*>(bytes_.data());
    const size_t size = bytes_.empty() ? 0 : strnlen(text, bytes_.size());
    bytes_ = {};
    return {text, size};
  }

  bool ok() const noexcept { return ok_; }

 private:
  RecordBytes bytes_;
  bool ok_ = true;
};

// The machine's CLOCK_MONOTONIC, as this process reads it.
uint64_t OwnTime(uint64_t time_ns) noexcept {
  return time_ns + static_cast<uint64_t>(OwnClockOffsetNs());
}

// The body between header and trailer of a record that is not a sample.
std::optional<RecordBytes> Body(RecordBytes bytes) noexcept {
  if (bytes.size() < sizeof(RecordHeader) + kTrailerBytes) return std::nullopt;
  return bytes.subspan(sizeof(RecordHeader),
                       bytes.size() - sizeof(RecordHeader) - kTrailerBytes);
}

void TakeRegisters(Reader& reader, SampleRecord& sample) noexcept {
  const auto abi = reader.Take<uint64_t>();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;
  for (const int target : kFromKernelOrder) {
    sample.registers[target] = reader.Take<uint64_t>();
  }
  sample.has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
}

// size, that many bytes, and how many of them were really copied.
void TakeStack(Reader& reader, SampleRecord& sample) noexcept {
  const auto size = reader.Take<uint64_t>();
  if (size == 0) return;
  const RecordBytes area = reader.TakeBytes(size);
  const auto copied = reader.Take<uint64_t>();
  sample.stack = area.first(std::min<uint64_t>(copied, area.size()));
  sample.stack_was_cut = copied >= size;
}

}  // namespace

uint64_t RecordLayout::sample_type() const noexcept {
  return PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
         PERF_SAMPLE_PERIOD | (has_callchain ? PERF_SAMPLE_CALLCHAIN : 0) |
         (has_registers_and_stack
              ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER
              : 0) |
         (has_raw ? PERF_SAMPLE_RAW : 0);
}

uint64_t SampleRecord::callchain_at(size_t index) const noexcept {
  uint64_t value;
  std::memcpy(&value, callchain.data() + index * 8, sizeof(value));
  return value;
}

SampleBegin DecodeSampleBegin(
    std::span<const std::byte, kSampleBeginBytes> bytes) noexcept {
  Reader reader(bytes.subspan(kSampleTimeOffset - 2 * sizeof(uint32_t)));
  SampleBegin begin;
  begin.pid = reader.Take<uint32_t>();
  begin.tid = reader.Take<uint32_t>();
  begin.time_ns = OwnTime(reader.Take<uint64_t>());
  return begin;
}

std::optional<RecordHeader> DecodeHeader(RecordBytes bytes) noexcept {
  if (bytes.size() < sizeof(RecordHeader)) return std::nullopt;
  RecordHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.size < sizeof(header)) return std::nullopt;
  return header;
}

std::optional<uint64_t> DecodeTime(RecordBytes bytes) noexcept {
  const auto header = DecodeHeader(bytes);
  if (!header) return std::nullopt;
  size_t offset = kSampleTimeOffset;
  if (header->type != PERF_RECORD_SAMPLE) {
    if (!Body(bytes)) return std::nullopt;
    offset = bytes.size() - kTrailerBytes + kTrailerTimeOffset;
  }
  if (offset + 8 > bytes.size()) return std::nullopt;
  uint64_t time;
  std::memcpy(&time, bytes.data() + offset, sizeof(time));
  return OwnTime(time);
}

bool IsWithin(RecordBytes bytes, uint64_t from_ns, uint64_t until_ns) noexcept {
  const auto time_ns = DecodeTime(bytes);
  return !time_ns || (*time_ns >= from_ns && *time_ns < until_ns);
}

std::optional<MapRecord> DecodeMap(RecordBytes bytes) noexcept {
  const auto header = DecodeHeader(bytes);
  const auto body = Body(bytes);
  if (!header || !body) return std::nullopt;
  Reader reader(*body);
  MapRecord map;
  map.pid = reader.Take<uint32_t>();
  reader.Take<uint32_t>();  // tid
  map.address = reader.Take<uint64_t>();
  map.size_bytes = reader.Take<uint64_t>();
  map.file_offset = reader.Take<uint64_t>();
  const RecordBytes identity = reader.TakeBytes(24);
  reader.Take<uint64_t>();  // protection and flags
  map.path = reader.TakeText();
  if (!reader.ok()) return std::nullopt;
  Reader fields(identity);
  if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
    const size_t size = std::min<size_t>(fields.Take<uint8_t>(), 20);
    fields.TakeBytes(3);
    map.build_id = fields.TakeBytes(size);
  } else {
    fields.Take<uint64_t>();  // major and minor number of the device
    map.inode = fields.Take<uint64_t>();
  }
  map.time_ns = DecodeTime(bytes).value_or(0);
  return map;
}

std::optional<CommRecord> DecodeComm(RecordBytes bytes) noexcept {
  const auto header = DecodeHeader(bytes);
  const auto body = Body(bytes);
  if (!header || !body) return std::nullopt;
  Reader reader(*body);
  CommRecord comm;
  comm.pid = reader.Take<uint32_t>();
  comm.tid = reader.Take<uint32_t>();
  comm.name = reader.TakeText();
  comm.is_exec = (header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  comm.time_ns = DecodeTime(bytes).value_or(0);
  if (!reader.ok()) return std::nullopt;
  return comm;
}

std::optional<TaskRecord> DecodeTask(RecordBytes bytes) noexcept {
  const auto body = Body(bytes);
  if (!body) return std::nullopt;
  Reader reader(*body);
  TaskRecord task;
  task.pid = reader.Take<uint32_t>();
  task.parent_pid = reader.Take<uint32_t>();
  task.tid = reader.Take<uint32_t>();
  task.parent_tid = reader.Take<uint32_t>();
  task.time_ns = OwnTime(reader.Take<uint64_t>());
  if (!reader.ok()) return std::nullopt;
  return task;
}

std::optional<SwitchRecord> DecodeSwitch(RecordBytes bytes) noexcept {
  const auto header = DecodeHeader(bytes);
  const auto body = Body(bytes);
  if (!header || !body) return std::nullopt;
  // It has no body of its own: the trailer says which thread, and when.
  Reader trailer(bytes.last(kTrailerBytes));
  SwitchRecord record;
  record.pid = trailer.Take<uint32_t>();
  record.tid = trailer.Take<uint32_t>();
  record.time_ns = OwnTime(trailer.Take<uint64_t>());
  record.is_out = (header->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  record.is_runnable = (header->misc & kSwitchOutPreempt) != 0;
  return record;
}

std::optional<SampleRecord> DecodeSample(RecordBytes bytes,
                                         RecordLayout layout) noexcept {
  const auto header = DecodeHeader(bytes);
  if (!header) return std::nullopt;
  Reader reader(bytes.subspan(sizeof(RecordHeader)));
  SampleRecord sample;
  sample.instruction = reader.Take<uint64_t>();
  sample.pid = reader.Take<uint32_t>();
  sample.tid = reader.Take<uint32_t>();
  sample.time_ns = OwnTime(reader.Take<uint64_t>());
  reader.Take<uint64_t>();  // cpu
  sample.period_ns = reader.Take<uint64_t>();
  if (layout.has_callchain) {
    const auto count = reader.Take<uint64_t>();
    if (count > bytes.size()) return std::nullopt;
    sample.callchain = reader.TakeBytes(count * 8);
  }
  if (layout.has_raw) sample.raw = reader.TakeBytes(reader.Take<uint32_t>());
  if (layout.has_registers_and_stack) {
    TakeRegisters(reader, sample);
    TakeStack(reader, sample);
  }
  if (!reader.ok()) return std::nullopt;
  sample.in_kernel =
      (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  return sample;
}

std::optional<WakeRecord> DecodeWake(const SampleRecord& sample) noexcept {
  constexpr uint8_t kInterruptFlags = 8 | 16;
  WakeFields fields;
  if (sample.raw.size() < sizeof(fields)) return std::nullopt;
  std::memcpy(&fields, sample.raw.data(), sizeof(fields));
  return WakeRecord{.woken_tid = static_cast<uint32_t>(fields.woken_tid),
                    .is_by_interrupt = (fields.flags & kInterruptFlags) != 0};
}

std::optional<uint64_t> DecodeLost(RecordBytes bytes) noexcept {
  const auto body = Body(bytes);
  if (!body) return std::nullopt;
  Reader reader(*body);
  reader.Take<uint64_t>();  // event id
  const auto lost = reader.Take<uint64_t>();
  if (!reader.ok()) return std::nullopt;
  return lost;
}

}  // namespace kymo::sampling
