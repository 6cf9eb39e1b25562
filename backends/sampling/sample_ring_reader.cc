#include "backends/sampling/sample_ring_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/sampling/target/seccomp_filters.h"
#include "profiler/base/mapped/sealed_memory.h"

namespace kymo::sampling {
namespace {

// A day at 1000 Hz merges fewer ticks than this: a larger number is nonsense.
constexpr uint32_t kMaxTicks = 100'000'000;

constexpr std::string_view kDeleted = " (deleted)";

}  // namespace

absl::StatusOr<std::unique_ptr<SampleRingReader>> SampleRingReader::Create(
    DurationNs period_ns, uint32_t stack_bytes, uint32_t cell_count) {
  std::unique_ptr<SampleRingReader> reader(new SampleRingReader);
  reader->cell_count_ = cell_count;
  reader->stack_bytes_ = stack_bytes;
  reader->size_bytes_ = RingBytes(cell_count, stack_bytes);
  reader->file_ =
      OwnedDescriptor(MakeSealedMemory("kymo-samples", reader->size_bytes_));
  void* memory = MAP_FAILED;
  if (reader->file_.is_open()) {
    memory = mmap(nullptr, reader->size_bytes_, PROT_READ | PROT_WRITE,
                  MAP_SHARED, reader->file_.get(), 0);
  }
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no shared memory of ", reader->size_bytes_,
                     " bytes for samples; try larger limits (ulimit -f, -v, "
                     "-n): ",
                     strerror(errno)));
  }
  RingHeader* const ring = static_cast<RingHeader*>(memory);
  reader->ring_ = ring;
  ring->magic = kRingMagic;
  ring->version = kRingVersion;
  ring->cell_count = cell_count;
  ring->stack_bytes = stack_bytes;
  ring->period_ns = period_ns;
  ring->seccomp_filters = CountSeccompFilters();
  ring->is_enabled.store(1, std::memory_order_release);
  return reader;
}

SampleRingReader::~SampleRingReader() {
  if (ring_ != nullptr) {
    Disable();
    munmap(ring_, size_bytes_);
  }
}

std::string SampleRingReader::path() const {
  return absl::StrCat("/proc/", getpid(), "/fd/", file_.get());
}

bool SampleRingReader::ReadCell(uint32_t index, TimerSample* sample) {
  CellHeader header;
  const CellHeader* const cell =
      CellOf(ring_, index, cell_count_, stack_bytes_);
  memcpy(&header, cell, sizeof(header));
  if (header.pid <= 0 || header.tid <= 0 || header.time_ns < 0 ||
      header.stack_bytes > stack_bytes_ || header.tick_count == 0 ||
      header.tick_count > kMaxTicks) {
    return false;
  }
  sample->time_ns = header.time_ns;
  sample->pid = header.pid;
  sample->tid = header.tid;
  sample->parent_pid = header.parent_pid;
  sample->image_ns = header.image_ns;
  sample->tick_count = header.tick_count;
  sample->thread_name.assign(
      header.thread_name,
      strnlen(header.thread_name, sizeof(header.thread_name)));
  std::copy(std::begin(header.registers), std::end(header.registers),
            sample->registers.begin());
  sample->kind = header.kind;
  sample->is_cut = header.is_cut != 0;
  return ReadBytes(reinterpret_cast<const std::byte*>(cell + 1),
                   header.stack_bytes, sample);
}

bool SampleRingReader::ReadBytes(const std::byte* bytes, size_t size,
                                 TimerSample* sample) {
  stack_.assign(bytes, bytes + size);
  sample->stack = {};
  sample->addresses = {};
  sample->path = {};
  sample->is_deleted = false;
  switch (sample->kind) {
    case kCellStack:
      sample->stack = stack_;
      return true;
    case kCellAddresses:
      if (size == 0 || size % sizeof(uint64_t) != 0) return false;
      addresses_.resize(size / sizeof(uint64_t));
      memcpy(addresses_.data(), stack_.data(), size);
      sample->addresses = addresses_;
      return true;
    case kCellFile: {
      if (size <= sizeof(FileNote) || stack_.back() != std::byte{0}) {
        return false;
      }
      memcpy(&sample->file, stack_.data(), sizeof(FileNote));
      sample->path =
          reinterpret_cast<const char*>(stack_.data()) + sizeof(FileNote);
      // The kernel says so of a file that was replaced since.
      if (sample->path.ends_with(kDeleted)) {
        sample->path.remove_suffix(kDeleted.size());
        sample->is_deleted = true;
      }
      return sample->file.end > sample->file.start;
    }
  }
  return false;
}

void SampleRingReader::Drain(
    const std::function<void(const TimerSample&)>& visit) {
  CellStates* const states = StatesOf(ring_);
  std::vector<std::pair<int64_t, uint32_t>> ready;  // time, cell
  for (uint32_t i = 0; i < cell_count_; ++i) {
    // Acquire: pairs with the handler's release (I1).
    if (states[i].load(std::memory_order_acquire) != kCellReady) continue;
    ready.push_back({CellOf(ring_, i, cell_count_, stack_bytes_)->time_ns, i});
  }
  std::sort(ready.begin(), ready.end());
  TimerSample sample;
  for (const auto& [time_ns, index] : ready) {
    const bool is_sound = ReadCell(index, &sample);
    // Release: our reads are done before a handler may take it.
    states[index].store(kCellFree, std::memory_order_release);
    if (is_sound) {
      visit(sample);
    } else {
      ++unsound_cells_;
    }
  }
}

void SampleRingReader::Disable() noexcept {
  ring_->is_enabled.store(0, std::memory_order_relaxed);
}

std::vector<std::string> SampleRingReader::StopRemarks() const {
  std::vector<std::string> remarks;
  for (size_t why = 0; why < kTimerStops; ++why) {
    const uint32_t count = ring_->stops[why].load(std::memory_order_relaxed);
    if (count == 0) continue;
    const bool is_one = count == 1;
    const char* const does =
        static_cast<TimerStop>(why) == TimerStop::kRestricted
            ? is_one ? " process restricts its own system calls (seccomp), "
                       "or is about to, and those of the timers might end it"
                     : " processes restrict their own system calls (seccomp), "
                       "or are about to, and those of the timers might end them"
        : is_one ? " process uses SIGPROF, the signal of the timers, for "
                   "itself, as gcc -pg does"
                 : " processes use SIGPROF, the signal of the timers, for "
                   "themselves, as gcc -pg does";
    remarks.push_back(absl::StrCat(
        "sampling: ", count, does, ": ", is_one ? "it has" : "they have",
        " no samples from then on. Perf events sample ", is_one ? "it" : "them",
        ", where they are permitted (--sampling_sampler=perf)"));
  }
  if (const uint32_t count =
          ring_->threads_without_timer.load(std::memory_order_relaxed)) {
    remarks.push_back(absl::StrCat(
        "sampling: ", count, count == 1 ? " thread has" : " threads have",
        " no samples: no timer was left. A process has at most 8192 "
        "at once, and the kernel limits those of a user (ulimit -i)"));
  }
  return remarks;
}

uint64_t SampleRingReader::LostTicks() const noexcept {
  uint64_t lost = ring_->dropped.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < cell_count_; ++i) {
    const uint32_t state = StatesOf(ring_)[i].load(std::memory_order_acquire);
    lost += state == kCellWriting;
  }
  return lost;
}

}  // namespace kymo::sampling
