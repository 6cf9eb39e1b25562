// perf_records.h - decodes the records of a perf_event_open ring.
//
//   const RecordLayout layout = RecordLayout::RegistersAndStack();
//   if (auto sample = DecodeSample(bytes, layout)) Use(*sample);
//
// `bytes` is one record with its header. A decoder returns nullopt for a record
// that is too short for what it claims to hold, and reads no byte outside of
// the record. Pure functions; views point into `bytes`.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_RECORDS_H_
#define KYMO_BACKENDS_SAMPLING_PERF_RECORDS_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "backends/sampling/unwind/registers.h"

namespace kymo::sampling {

using RecordBytes = std::span<const std::byte>;

// The optional parts of a sample; attr.sample_type decides.
struct RecordLayout {
  bool has_callchain = false;
  bool has_registers_and_stack = false;
  bool has_raw = false;  // of tracepoints

  static constexpr RecordLayout RegistersAndStack() { return {false, true}; }
  static constexpr RecordLayout Callchain() { return {true, false}; }
  static constexpr RecordLayout KernelCallchainRegistersAndStack() {
    return {true, true};
  }
  static constexpr RecordLayout RawRegistersAndStack() {
    return {false, true, true};
  }
  uint64_t sample_type() const noexcept;
};

// attr.sample_regs_user for the registers that Registers holds.
inline constexpr uint64_t kSampledRegisterMask = 0xff01ff;

struct RecordHeader {
  uint32_t type = 0;  // PERF_RECORD_*
  uint16_t misc = 0;
  uint16_t size = 0;
};

// PERF_RECORD_MMAP2: an executable mapping appeared.
struct MapRecord {
  uint32_t pid = 0;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t file_offset = 0;
  uint64_t inode = 0;  // 0 = not known (a build id instead, or no file)
  std::span<const std::byte> build_id;  // may be empty
  std::string_view path;
  uint64_t time_ns = 0;
};

struct CommRecord {
  uint32_t pid = 0;
  uint32_t tid = 0;
  std::string_view name;
  bool is_exec = false;
  uint64_t time_ns = 0;
};

// PERF_RECORD_FORK and _EXIT.
struct TaskRecord {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint32_t tid = 0;
  uint32_t parent_tid = 0;
  uint64_t time_ns = 0;
};

// PERF_RECORD_SWITCH: a CPU goes from thread to thread.
struct SwitchRecord {
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool is_out = false;  // the thread leaves its CPU, or else gets one
  // With is_out: the thread could go on. It was preempted, or it yielded.
  bool is_runnable = false;
  uint64_t time_ns = 0;
};

struct SampleRecord {
  uint64_t instruction = 0;  // may be the kernel's
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t time_ns = 0;
  uint64_t period_ns = 0;
  bool in_kernel = false;
  // The call chain as the kernel gives it: leaf first, with PERF_CONTEXT_*
  // marks.
  std::span<const std::byte> callchain;
  size_t callchain_size() const noexcept { return callchain.size() / 8; }
  uint64_t callchain_at(size_t index) const noexcept;

  std::span<const std::byte> raw;  // what a tracepoint says

  bool has_registers = false;  // false: no user state, or a 32-bit one
  Registers registers{};
  std::span<const std::byte> stack;  // from the stack pointer upwards
  // The copy fills the room that the kernel had for it, which can be less than
  // was asked for: a record has at most 65,535 bytes.
  bool stack_was_cut = false;
};

// What a sample of sched:sched_waking says.
struct WakeRecord {
  uint32_t woken_tid = 0;
  // The thread that the sample is of only happened to run.
  bool is_by_interrupt = false;
};

std::optional<RecordHeader> DecodeHeader(RecordBytes bytes) noexcept;

// The record's CLOCK_MONOTONIC time; every kind has one (sample_id_all).
std::optional<uint64_t> DecodeTime(RecordBytes bytes) noexcept;

// Whether the record is of a time in [from_ns, until_ns). A record whose time
// cannot be read is, so that it is counted as damaged.
bool IsWithin(RecordBytes bytes, uint64_t from_ns, uint64_t until_ns) noexcept;

std::optional<MapRecord> DecodeMap(RecordBytes bytes) noexcept;
std::optional<CommRecord> DecodeComm(RecordBytes bytes) noexcept;
std::optional<TaskRecord> DecodeTask(RecordBytes bytes) noexcept;
std::optional<SwitchRecord> DecodeSwitch(RecordBytes bytes) noexcept;
std::optional<SampleRecord> DecodeSample(RecordBytes bytes,
                                         RecordLayout layout) noexcept;
// How every sample begins: its first bytes, and what they say.
inline constexpr size_t kSampleBeginBytes = 32;
struct SampleBegin {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t time_ns = 0;
};
SampleBegin DecodeSampleBegin(
    std::span<const std::byte, kSampleBeginBytes> bytes) noexcept;
std::optional<WakeRecord> DecodeWake(const SampleRecord& sample) noexcept;
// How many records a full ring dropped, according to PERF_RECORD_LOST.
std::optional<uint64_t> DecodeLost(RecordBytes bytes) noexcept;

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_RECORDS_H_
