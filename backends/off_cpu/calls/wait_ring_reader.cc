#include "backends/off_cpu/calls/wait_ring_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/off_cpu/look/thread_counts.h"
#include "backends/sampling/target/seccomp_filters.h"
#include "profiler/base/mapped/sealed_memory.h"
#include "profiler/processes/schedstat.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// A thread that blocks and is woken at once takes longer: two switches, and
// what the other thread does. On an idle Xeon that is 2.5 us.
constexpr int64_t kLeastNs = 2 * kNsPerUs;
// A send through the loopback device does the receiver's work, too.
constexpr int64_t kLeastBusyNs = 20 * kNsPerUs;

// The time between anchors. The kernel adjusts its clock meanwhile, but slowly.
// The first two only say what kLeastNs is in ticks.
constexpr int64_t kAnchorNs = kNsPerSecond;
constexpr int64_t kFirstAnchorNs = kNsPerMs / 5;

// Between two reads, which come every 5 ms: 25,600 a second.
constexpr int32_t kMostWakes = 128;

// Of a thread: a hundred years.
constexpr int64_t kMostCpuNs = int64_t{36'500} * 86'400 * kNsPerSecond;

constexpr std::array kKinds = {WaitKind::kLock,    WaitKind::kCondition,
                               WaitKind::kSleep,   WaitKind::kRead,
                               WaitKind::kWrite,   WaitKind::kPoll,
                               WaitKind::kNetwork, WaitKind::kChild,
                               WaitKind::kUnknown, WaitKind::kUnknown};
static_assert(kKinds.size() == static_cast<size_t>(kLastCallKind) + 1);

template <size_t kSize>
std::string_view Text(const char (&text)[kSize]) {
  return {text, strnlen(text, kSize)};
}

const ClockAnchor& FirstAnchor() {
  static const ClockAnchor anchor = MeasureAnchor(DetectClockSource());
  return anchor;
}

}  // namespace

void WaitRingReader::BeginClock() { FirstAnchor(); }

absl::StatusOr<std::unique_ptr<WaitRingReader>> WaitRingReader::Create(
    uint32_t cell_count) {
  std::unique_ptr<WaitRingReader> reader(new WaitRingReader(cell_count));
  reader->older_ = FirstAnchor();
  // The machine may have slept since an old one, and only one clock with it.
  if (MonotonicNs() - reader->older_.monotonic_ns > kAnchorNs) {
    reader->older_ = MeasureAnchor(reader->source_);
  }
  const size_t bytes = WaitRingBytes(cell_count);
  reader->file_ = OwnedDescriptor(MakeSealedMemory("kymo-waits", bytes));
  void* memory = MAP_FAILED;
  if (reader->file_.is_open()) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                  reader->file_.get(), 0);
  }
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no shared memory of ", bytes,
                     " bytes for the stacks of waits; try larger limits "
                     "(ulimit -f, -v, -n): ",
                     strerror(errno)));
  }
  const int64_t early_ns =
      reader->older_.monotonic_ns + kFirstAnchorNs - MonotonicNs();
  if (early_ns > 0) usleep(static_cast<useconds_t>(early_ns / kNsPerUs + 1));
  reader->newer_ = MeasureAnchor(reader->source_);
  const double ticks_per_ns =
      static_cast<double>(reader->newer_.ticks - reader->older_.ticks) /
      static_cast<double>(reader->newer_.monotonic_ns -
                          reader->older_.monotonic_ns);
  // The margin is for what the clocks do not agree on.
  reader->earliest_ns_ = reader->newer_.monotonic_ns - kNsPerSecond;
  auto* const ring = static_cast<WaitRingHeader*>(memory);
  reader->ring_ = ring;
  ring->magic = kWaitRingMagic;
  ring->version = kWaitRingVersion;
  ring->cell_count = cell_count;
  ring->clock = static_cast<uint32_t>(reader->source_);
  ring->least_ticks = static_cast<uint64_t>(kLeastNs * ticks_per_ns);
  ring->least_busy_ticks = static_cast<uint64_t>(kLeastBusyNs * ticks_per_ns);
  ring->wakes_left.store(kMostWakes, std::memory_order_relaxed);
  ring->seccomp_filters = CountSeccompFilters();
  ring->is_enabled.store(1, std::memory_order_release);
  return reader;
}

WaitRingReader::~WaitRingReader() {
  if (ring_ == nullptr) return;
  Disable();
  munmap(ring_, WaitRingBytes(cell_count_));
}

std::string WaitRingReader::path() const {
  return absl::StrCat("/proc/", getpid(), "/fd/", file_.get());
}

std::optional<NotedCall> WaitRingReader::ReadCall(const WaitCell& cell,
                                                  const TickConverter& clock) {
  const TimeNs begin_ns = clock.ToEpochNs(cell.begin_ticks);
  const TimeNs end_ns = clock.ToEpochNs(cell.end_ticks);
  if (cell.tid <= 0 || cell.kind > kLastCallKind ||
      cell.object_is > kLastCallObject || begin_ns < 0 || end_ns < begin_ns ||
      cell.address_count == 0 || cell.address_count > kMostCallAddresses) {
    return std::nullopt;
  }
  return NotedCall{
      .pid = static_cast<uint32_t>(cell.pid),
      .tid = static_cast<uint32_t>(cell.tid),
      .is_wake = cell.kind == CallKind::kWake,
      .begin_ns = static_cast<uint64_t>(begin_ns),
      .end_ns = static_cast<uint64_t>(end_ns),
      .kind = kKinds[static_cast<size_t>(cell.kind)],
      .object = cell.object,
      .object_is = cell.object_is,
      .holder_tid = cell.holder_tid,
      .addresses = {cell.addresses, cell.addresses + cell.address_count},
      .is_cut = cell.is_cut != 0,
      .mutex = cell.mutex,
      .mutex_function = cell.mutex_function,
      .inode = cell.inode,
      .mode = cell.mode,
      .has_timed_out = cell.has_timed_out != 0,
      .is_shared = cell.is_shared != 0};
}

std::optional<NotedEnd> WaitRingReader::ReadEnd(const WaitCell& cell,
                                                const TickConverter& clock) {
  const TimeNs time_ns = clock.ToEpochNs(cell.end_ticks);
  const auto stat = processes::ParseSchedStat(Text(cell.texts.schedstat));
  if (cell.tid <= 0 || time_ns < 0 || !stat || stat->waited_ns > kMostCpuNs ||
      cell.object > kMostCpuNs) {
    return std::nullopt;
  }
  NotedEnd end = {.tid = static_cast<uint32_t>(cell.tid),
                  .time_ns = static_cast<uint64_t>(time_ns),
                  .on_cpu_ns = static_cast<DurationNs>(cell.object),
                  .waited_ns = stat->waited_ns};
  ParseFaults(Text(cell.texts.stat), end.counts);
  ParseIo(Text(cell.texts.io), end.counts);
  return end;
}

bool WaitRingReader::Visit(
    const WaitCell& cell, const TickConverter& clock, TimeNs latest_ns,
    const std::function<void(NotedCall&&)>& visit,
    const std::function<void(const NotedEnd&)>& visit_end) const {
  const TimeNs end_ns = clock.ToEpochNs(cell.end_ticks);
  if (end_ns < earliest_ns_ || end_ns > latest_ns) return false;
  if (cell.kind == CallKind::kThreadEnd) {
    const auto end = ReadEnd(cell, clock);
    if (end && visit_end) visit_end(*end);
    return end.has_value();
  }
  auto call = ReadCall(cell, clock);
  if (call) visit(*std::move(call));
  return call.has_value();
}

void WaitRingReader::Read(
    const std::function<void(NotedCall&&)>& visit,
    const std::function<void(const NotedEnd&)>& visit_end) {
  const ClockAnchor now = MeasureAnchor(source_);
  // Times are CLOCK_MONOTONIC here: the offset is 0.
  const TickConverter clock(source_, older_, now, 0);
  // Cells may become ready during the look, but none later.
  const TimeNs latest_ns = now.monotonic_ns + kNsPerSecond;
  if (now.monotonic_ns - newer_.monotonic_ns >= kAnchorNs) {
    older_ = std::exchange(newer_, now);
  }
  ring_->wakes_left.store(kMostWakes, std::memory_order_relaxed);
  WaitCellStates* const states = WaitStatesOf(ring_);
  for (uint32_t i = 0; i < cell_count_; ++i) {
    // Acquire: pairs with the thread's release (I1).
    if (states[i].load(std::memory_order_acquire) != kWaitReady) continue;
    WaitCell cell;
    memcpy(&cell, WaitCellsOf(ring_, cell_count_) + i, sizeof(cell));
    // Release: our reads are done before a thread may take it.
    states[i].store(kWaitFree, std::memory_order_release);
    if (!Visit(cell, clock, latest_ns, visit, visit_end)) ++unsound_cells_;
  }
  // So the target takes the same cells again, which caches know. Before they
  // were free, it would have found none.
  ring_->next_cell.store(0, std::memory_order_relaxed);
}

void WaitRingReader::Disable() noexcept {
  ring_->is_enabled.store(0, std::memory_order_relaxed);
}

uint64_t WaitRingReader::LostCalls() const noexcept {
  uint64_t lost = ring_->dropped.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < cell_count_; ++i) {
    lost +=
        WaitStatesOf(ring_)[i].load(std::memory_order_acquire) == kWaitWriting;
  }
  return lost;
}

}  // namespace kymo::off_cpu
