#include "backends/cpu/cpu_backend.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/arena_shard.h"
#include "backends/cpu/chunk_store.h"
#include "backends/cpu/flight_recorder.h"
#include "backends/cpu/program_starts.h"
#include "backends/cpu/raw_dump.h"
#include "backends/cpu/raw_file.h"
#include "backends/cpu/raw_front.h"
#include "backends/cpu/raw_keep.h"
#include "backends/cpu/trace_memory.h"
#include "profiler/base/clock.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/record/arena.h"
#include "profiler/record/chunk_reader.h"
#include "profiler/record/host.h"

namespace kymo {
namespace {

using record::Arena;
using record::ChunkReader;
using record::ChunkView;
using record::FullPolicy;

constexpr uint64_t kMib = uint64_t{1} << 20;
// Of a recording that wants memory.
constexpr record::RecordFlags kMemoryFlags =
    record::kGateMemory | record::kHeapModeFlags;

std::string Setting(const SessionOptions& options, const std::string& name,
                    const char* otherwise) {
  const auto it = options.settings.find(name);
  return it == options.settings.end() ? otherwise : it->second;
}

absl::StatusOr<uint64_t> ParseArenaBytes(const std::string& text) {
  uint64_t mib = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, mib);
  if (error != std::errc() || stop != end || mib < 1 || mib > 65536) {
    return absl::InvalidArgumentError(absl::StrCat(
        "arena_mib is '", text, "'; it takes a whole number from 1 to 65536"));
  }
  return mib * kMib;
}

absl::StatusOr<FullPolicy> ParsePolicy(const std::string& text) {
  if (text == "stop") return FullPolicy::kStop;
  if (text == "overwrite") return FullPolicy::kOverwrite;
  if (text == "drain") return FullPolicy::kDrain;
  return absl::InvalidArgumentError(absl::StrCat(
      "when_full is '", text, "'; it takes one of: drain, overwrite, stop"));
}

absl::StatusOr<std::optional<cpu::FlightLimit>> ParseFlight(
    const SessionOptions& options) {
  const std::string text = Setting(options, "flight_recorder", "");
  if (text.empty()) return std::nullopt;
  if (options.settings.contains("when_full")) {
    return absl::InvalidArgumentError(
        "a flight recorder overwrites when it is full: leave out when_full");
  }
  KYMO_ASSIGN_OR_RETURN(const cpu::FlightLimit limit,
                        cpu::ParseFlightLimit(text));
  return limit;
}

// What the settings say about the heap.
struct HeapSettings {
  record::RecordFlags flags = 0;
  uint64_t sample_interval = 0;  // bytes; 0 = every allocation
};

absl::StatusOr<bool> ParseSwitch(const std::string& name,
                                 const std::string& text) {
  if (text == "0" || text == "1") return text == "1";
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is '", text, "'; it takes 0 or 1"));
}

absl::StatusOr<HeapSettings> ParseHeap(const SessionOptions& options) {
  HeapSettings heap;
  const std::string mode = Setting(options, "memory_mode", "all");
  const std::string interval = Setting(options, "memory_interval", "524288");
  uint64_t bytes = 0;
  const char* const end = interval.data() + interval.size();
  const auto [stop, error] = std::from_chars(interval.data(), end, bytes);
  if (error != std::errc() || stop != end || bytes < 1 ||
      bytes > uint64_t{1} << 40) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_interval is '", interval,
                     "'; it takes a whole number of bytes from 1 to 2^40"));
  }
  const bool child = options.target == TargetKind::kChildProcess;
  KYMO_ASSIGN_OR_RETURN(
      const bool stacks,
      ParseSwitch("memory_stacks",
                  Setting(options, "memory_stacks",
                          child || options.with_stack ? "1" : "0")));
  KYMO_ASSIGN_OR_RETURN(
      const bool mappings,
      ParseSwitch("memory_mappings", Setting(options, "memory_mappings", "0")));
  if (mode == "all") {
    heap.flags = record::kGateHeap;
  } else if (mode == "sampled") {
    heap.flags = record::kGateHeap | record::kGateHeapSampled;
    heap.sample_interval = bytes;
  } else if (mode == "counters") {
    heap.flags = record::kGateHeapCounts;
  } else if (mode != "reports") {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_mode is '", mode,
                     "'; it takes one of: all, counters, reports, sampled"));
  }
  if (stacks && heap.flags != 0) heap.flags |= record::kGateHeapStacks;
  if (mappings) heap.flags |= record::kGateMapped;
  if (!options.profile_memory) heap = {};
  return heap;
}

// Which interfaces of others are listened to, and whether Kymo's own is.
absl::StatusOr<record::RecordFlags> ParseCapture(
    const SessionOptions& options) {
  KYMO_ASSIGN_OR_RETURN(
      const bool nvtx,
      ParseSwitch("capture_nvtx", Setting(options, "capture_nvtx", "1")));
  KYMO_ASSIGN_OR_RETURN(
      const bool itt,
      ParseSwitch("capture_itt", Setting(options, "capture_itt", "0")));
  KYMO_ASSIGN_OR_RETURN(const bool ranges,
                        ParseSwitch("ranges", Setting(options, "ranges", "1")));
  record::RecordFlags flags = ranges ? 0 : record::kRangesOff;
  if (nvtx) flags |= record::kGateNvtx;
  if (itt) flags |= record::kGateItt;
  return flags;
}

std::string CapturedInterfaces(record::RecordFlags flags) {
  std::string names;
  if (flags & record::kGateItt) names += "itt,";
  if (flags & record::kGateNvtx) names += "nvtx,";
  if (!names.empty()) names.pop_back();
  return names;
}

record::RecordFlags WantedFlags(const SessionOptions& options,
                                const HeapSettings& heap,
                                record::RecordFlags capture) {
  record::RecordFlags flags = heap.flags | capture;
  if (options.profile_memory) flags |= record::kGateMemory;
  if (flags & record::kRangesOff) return flags;
  if (options.record_shapes) flags |= record::kGateInputs;
  if (options.with_stack) flags |= record::kGateStacks;
  if (options.with_modules) flags |= record::kGateModules;
  return flags;
}

// Records threads of this process, into its own memory or, where a collector
// records it, through the collector's.
class LocalSession : public ActivitySession {
 public:
  explicit LocalSession(const record::SessionRequest& request)
      : request_(request) {}
  ~LocalSession() override {
    if (id_ == record::kNoSession) return;
    record::StopSession(id_);
    Release();
  }

  absl::Status Prepare(Environment*) override { return absl::OkStatus(); }

  absl::Status Start(pid_t pid) override {
    pid_ = pid;
    const Arena* arena = record::ProcessArena();
    source_ = arena != nullptr ? arena->clock_source() : DetectClockSource();
    const uint64_t begin = ReadTicks(source_);
    KYMO_RETURN_IF_ERROR(StartStatus(record::StartSession(request_, &id_)));
    arena = record::ProcessArena();
    record::HeapMode(&heap_sample_interval_);
    recorded_.push_back({.begin = begin, .end = kOpenEnd});
    losses_at_start_ = cpu::ReadLosses(*arena);
    heap_at_start_ = cpu::ReadHeapNumbers(*arena);
    first_ticket_ = arena->header().next_ticket.load(std::memory_order_relaxed);
    first_anchor_ = MeasureAnchor(source_);
    return absl::OkStatus();
  }

  absl::Status SetCollecting(bool collecting) override {
    if (collecting == (recorded_.back().end == kOpenEnd)) {
      return absl::OkStatus();
    }
    if (collecting) {
      recorded_.push_back({.begin = ReadTicks(source_), .end = kOpenEnd});
    }
    record::SetSessionEnabled(id_, collecting);
    if (!collecting) recorded_.back().end = ReadTicks(source_);
    return absl::OkStatus();
  }

  absl::Status Dump(const std::string& path) override {
    if (request_.policy != FullPolicy::kOverwrite) {
      return absl::FailedPreconditionError(
          "only a session that keeps the newest can be dumped: start it with "
          "the setting when_full=overwrite");
    }
    const Arena& arena = *record::ProcessArena();
    return cpu::WriteRawDump(path, arena, [&](cpu::ChunkStore& dump) {
      cpu::SnapshotSession(arena, id_, pid_,
                           [&](const ChunkView& view) { AddOurs(view, dump); });
      return cpu::RawHeader{.epoch_offset_ns = EpochOffsetNs(),
                            .first_anchor = first_anchor_,
                            .last_anchor = MeasureAnchor(source_),
                            .is_complete = 1,
                            .keeps_newest = 1,
                            .losses_before = losses_at_start_};
    });
  }

  absl::Status Stop() override {
    last_anchor_ = MeasureAnchor(source_);
    const int error = record::StopSession(id_);
    if (recorded_.back().end == kOpenEnd) {
      recorded_.back().end = ReadTicks(source_);
    }
    return error == 0 ? absl::OkStatus()
                      : absl::ErrnoToStatus(error, "no session is recording");
  }

  absl::Status Collect(model::TraceShard& shard) override {
    const Arena& arena = *record::ProcessArena();
    std::vector<ChunkView> chunks;
    ChunkReader(arena).ReadSession(id_, pid_, [&](const ChunkView& view) {
      if (HoldsOurs(view)) chunks.push_back(view);
    });
    // Copies, since chunks are handed on and threads write on.
    std::vector<std::unique_ptr<record::Slot[]>> copies(chunks.size());
    ParallelForEach(chunks.size(), [&](size_t i) {
      copies[i] = record::CopySlots(chunks[i].slots);
      chunks[i].slots = {copies[i].get(), chunks[i].slots.size()};
    });
    Release();
    cpu::FillShard({.arena = arena,
                    .chunks = std::move(chunks),
                    .clock = TickConverter(source_, first_anchor_, last_anchor_,
                                           EpochOffsetNs()),
                    .first_ticket = request_.policy == FullPolicy::kOverwrite
                                        ? cpu::kNoFirstTicket
                                        : first_ticket_,
                    .losses_at_start = losses_at_start_,
                    .recorded = recorded_,
                    .heap_at_start = std::move(heap_at_start_),
                    .heap_sample_interval = heap_sample_interval_,
                    .with_memory = (request_.flags & kMemoryFlags) != 0,
                    .with_children = false},
                   shard);
    return absl::OkStatus();
  }

 private:
  static constexpr uint64_t kOpenEnd = ~uint64_t{0};

  static absl::Status StartStatus(int error) {
    switch (error) {
      case 0:
        return absl::OkStatus();
      case EALREADY:
        return absl::FailedPreconditionError(
            "Profiler is already enabled on this thread.");
      case EBUSY:
        return absl::FailedPreconditionError(
            "Profiler is already enabled. One session of all threads, or "
            "several of single threads, can record a process at a time.");
      case ENOSPC:
        return absl::ResourceExhaustedError(
            absl::StrCat(record::kMaxSessions,
                         " sessions record this process; stop one first"));
      case ENOTSUP:
        return absl::FailedPreconditionError(
            "Another session watches the heap in another way: sessions at the "
            "same time need one memory_mode and memory_interval");
      default:
        return absl::ErrnoToStatus(error, "cannot reserve memory for records");
    }
  }

  bool IsOurs(uint64_t begin) const {
    return std::any_of(recorded_.begin(), recorded_.end(),
                       [=](const cpu::TickInterval& interval) {
                         return begin >= interval.begin && begin < interval.end;
                       });
  }

  // The records of the chunk that are of when this session was switched on.
  void AddOurs(const ChunkView& view, cpu::ChunkStore& dump) const {
    size_t first = 0;  // of those in a row
    const auto add_up_to = [&](size_t end) {
      if (first == end) return;
      dump.Add({.stream = view.stream,
                .ticket = view.ticket,
                .first_index = static_cast<uint32_t>(view.first_index + first),
                .slots = view.slots.subspan(first, end - first)});
    };
    for (size_t i = 0; i < view.slots.size();) {
      const size_t taken =
          std::max<size_t>(record::RecordSlots(view.slots, i), 1);
      if (!IsOurs(view.slots[i].begin.load(std::memory_order_relaxed))) {
        add_up_to(i);
        first = i + taken;
      }
      i += taken;
    }
    add_up_to(view.slots.size());
  }

  // Whether any record of the chunk is of this session's time.
  bool HoldsOurs(const ChunkView& view) const {
    for (size_t i = 0; i < view.slots.size();) {
      const uint64_t begin =
          view.slots[i].begin.load(std::memory_order_relaxed);
      const size_t taken = record::RecordSlots(view.slots, i);
      if (taken != 0 && begin >= recorded_.front().begin &&
          begin < recorded_.back().end) {
        return true;
      }
      i += std::max<size_t>(taken, 1);
    }
    return false;
  }

  // Hands the chunks on.
  void Release() {
    const Arena& arena = *record::ProcessArena();
    const bool collector =
        arena.header().recording.load(std::memory_order_relaxed) != 0;
    ChunkReader(arena).Release(
        id_, pid_, collector,
        [](size_t count, const auto& call) { ParallelForEach(count, call); });
    record::ReleaseSession(id_);
    id_ = record::kNoSession;
  }

  const record::SessionRequest request_;
  record::SessionId id_ = record::kNoSession;
  pid_t pid_ = 0;
  ClockSource source_ = ClockSource::kSystem;
  std::vector<cpu::TickInterval> recorded_;  // when it was switched on
  ClockAnchor first_anchor_, last_anchor_;
  uint64_t first_ticket_ = 0;
  cpu::LossCounters losses_at_start_;
  std::vector<cpu::HeapNumbers> heap_at_start_;
  uint64_t heap_sample_interval_ = 0;
};

struct ChildSettings {
  std::string target_path;
  uint64_t arena_bytes = 0;
  FullPolicy policy = FullPolicy::kDrain;
  record::RecordFlags flags = 0;
  uint64_t heap_sample_interval = 0;
  std::string scratch_dir;
  bool keep_raw = false;
  std::string max_memory;
  std::optional<cpu::FlightLimit> flight;
};

// Records a child and what it starts, through a shared arena.
class ChildSession : public ActivitySession {
 public:
  explicit ChildSession(ChildSettings settings)
      : settings_(std::move(settings)) {}
  ~ChildSession() override {
    if (raw_.has_value()) return;
    arena_.Unmap();
    if (fd_ >= 0) close(fd_);
  }

  absl::Status Prepare(Environment* environment) override {
    KYMO_RETURN_IF_ERROR(settings_.keep_raw ? MakeRawFile() : MakeArena());
    reader_.emplace(arena_);
    if (settings_.flight) {
      flight_.emplace(arena_, settings_.flight->keep_ns, &store_);
    }
    PopulateAhead();
    (*environment)[record::kArenaVariable] =
        absl::StrCat("/proc/", getpid(), "/fd/", fd_);
    (*environment)[record::kCaptureVariable] =
        CapturedInterfaces(settings_.flags);
    return absl::OkStatus();
  }

  absl::Status Start(pid_t pid) override {
    // The program that this process is about to become.
    arena_.AddStart(pid, settings_.target_path, MonotonicNs());
    first_anchor_ = MeasureAnchor(arena_.clock_source());
    arena_.header().heap_sample_interval.store(settings_.heap_sample_interval,
                                               std::memory_order_relaxed);
    arena_.header().record_flags.store(settings_.flags,
                                       std::memory_order_relaxed);
    arena_.header().recording.store(1, std::memory_order_relaxed);
    last_anchor_ = first_anchor_;
    if (raw_.has_value()) {
      // Whoever reads the file needs two anchors, and now may be all there is.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      NoteClock();
    }
    return absl::OkStatus();
  }

  void Poll() override {
    if (settings_.policy == FullPolicy::kDrain) {
      reader_->DrainSealed([this](const ChunkView& view) { store_.Add(view); });
      arena_.RecountFree();
    }
    if (flight_) flight_->Poll(MonotonicNs());
    PopulateAhead();
    if (raw_.has_value()) NoteClock();
  }

  absl::Status Dump(const std::string& path) override {
    if (!flight_) {
      return absl::FailedPreconditionError(
          "only a flight recorder can be dumped: record with "
          "--flight_recorder=30s, or with --keep_raw=1, whose file has all of "
          "it in the end");
    }
    return cpu::WriteRawDump(
        path, arena_, [this](cpu::ChunkStore& dump) { return Fill(dump); });
  }

  absl::Status Stop() override {
    cpu::AwaitAttaching(arena_);
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    arena_.header().recording.store(0, std::memory_order_relaxed);
    return absl::OkStatus();
  }

  std::vector<std::string> Remarks() const override {
    return cpu::DescribeUnrecorded(arena_);
  }

  absl::Status Collect(model::TraceShard& shard) override {
    auto add = [this](const ChunkView& view) { store_.Add(view); };
    reader_->ReadAll(add);
    if (raw_.has_value()) {
      raw_->Note(Header(/*is_complete=*/true));
      raw_->DropFreeChunks();
    }
    KYMO_ASSIGN_OR_RETURN(const uint64_t limit,
                          cpu::MemoryLimit(settings_.max_memory));
    if (cpu::TraceMemoryBytes(store_.bytes()) > limit) return Keep(limit);
    std::vector<ChunkView> chunks;
    KYMO_RETURN_IF_ERROR(store_.Map(chunks));
    if (flight_) {
      for (ChunkView& chunk : chunks) chunk = WithoutOld(chunk);
      std::erase_if(chunks,
                    [](const ChunkView& chunk) { return chunk.slots.empty(); });
    }
    shard.ledger.Add(model::Loss::kDrainBytesLost, store_.lost_bytes());
    if (WasCut()) {
      shard.ledger.Add(model::Loss::kDrainBytesLost, arena_.bytes());
    }
    cpu::FillShard({.arena = arena_,
                    .chunks = std::move(chunks),
                    .clock = TickConverter(arena_.clock_source(), first_anchor_,
                                           last_anchor_, EpochOffsetNs()),
                    .first_ticket = flight_ ? cpu::kNoFirstTicket : 0,
                    .losses_at_start = {},
                    .heap_sample_interval = settings_.heap_sample_interval,
                    .with_memory = (settings_.flags & kMemoryFlags) != 0,
                    .was_to_hold_time = IsToHoldTime()},
                   shard);
    return absl::OkStatus();
  }

 private:
  // How far the clock may be extrapolated after a death.
  static constexpr int64_t kNoteEveryNs = 100 * kNsPerMs;

  record::ArenaOptions Options() const {
    return {.capacity_bytes = settings_.arena_bytes,
            .chunk_bytes_total = settings_.arena_bytes,
            .policy = settings_.policy,
            .clock_source = DetectClockSource()};
  }

  // A trace is not worth the death of this process, nor that of the records.
  absl::Status Keep(uint64_t limit) const {
    const std::string path = RawPath();
    if (!raw_.has_value()) {
      KYMO_RETURN_IF_ERROR(cpu::KeepRawFile(store_.fd(), path, arena_,
                                            Header(/*is_complete=*/true)));
    }
    return KeptRecording(
        absl::StrCat("a trace of the ", store_.bytes() / kMib,
                     " MiB of records would take ",
                     cpu::TraceMemoryBytes(store_.bytes()) / kMib,
                     " MiB of memory, more than the ", limit / kMib,
                     " MiB that may be taken (--max_memory)"),
        path);
  }

  // Somebody has shortened the raw file, and what the arena held is zeros.
  bool WasCut() const { return arena_.header().magic != record::kArenaMagic; }

  std::string RawPath() const { return settings_.scratch_dir + "/kymo.raw"; }

  absl::Status MakeArena() {
    arena_ = Arena::CreateShared(Options(), &fd_);
    if (!arena_.valid()) {
      return absl::ErrnoToStatus(errno, "cannot make the shared arena");
    }
    return store_.Open(settings_.scratch_dir, cpu::RawChunksBegin(arena_));
  }

  absl::Status MakeRawFile() {
    KYMO_ASSIGN_OR_RETURN(raw_, cpu::RawFile::Create(RawPath(), Options()));
    arena_ = raw_->arena();
    fd_ = raw_->fd();
    store_.OpenAt(fd_, raw_->chunks_begin());
    return absl::OkStatus();
  }

  cpu::RawHeader Header(bool is_complete) const {
    return {.with_memory = (settings_.flags & kMemoryFlags) != 0,
            .epoch_offset_ns = EpochOffsetNs(),
            .heap_sample_interval = settings_.heap_sample_interval,
            .lost_bytes = store_.lost_bytes(),
            .first_anchor = first_anchor_,
            .last_anchor = last_anchor_,
            .is_complete = is_complete,
            .was_to_hold_time = IsToHoldTime()};
  }

  bool IsToHoldTime() const {
    return settings_.flight && settings_.flight->keep_ns != 0;
  }

  // What a flight recorder has now.
  cpu::RawHeader Fill(cpu::ChunkStore& dump) {
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    for (const ChunkView& kept : flight_->kept()) dump.Add(kept);
    cpu::SnapshotChunks(arena_, [&](const ChunkView& view) {
      const ChunkView left = WithoutOld(view);
      if (!left.slots.empty()) dump.Add(left);
    });
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    return Header(/*is_complete=*/true);
  }

  // Of a flight recorder with a time to keep. REQUIRES: the last anchor is of
  // now, or of the end.
  ChunkView WithoutOld(const ChunkView& chunk) const {
    if (!IsToHoldTime() || chunk.ticket >= cpu::kKeptTicket) {
      return chunk;
    }
    const TickConverter clock(arena_.clock_source(), first_anchor_,
                              last_anchor_, EpochOffsetNs());
    return cpu::WithoutOld(
        chunk, clock,
        clock.ToEpochNs(last_anchor_.ticks) - settings_.flight->keep_ns);
  }

  // The second anchor of a raw file, should this process die: the further from
  // the first, the better.
  void NoteClock() {
    const int64_t known_ns =
        last_anchor_.monotonic_ns - first_anchor_.monotonic_ns;
    if (MonotonicNs() - last_anchor_.monotonic_ns <
        std::min(known_ns, kNoteEveryNs)) {
      return;
    }
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    raw_->Note(Header(/*is_complete=*/false));
  }

  // Makes the pages of the next chunks, so that the target only maps them.
  void PopulateAhead() {
    uint32_t used = 0;  // chunks up to the last one in use
    const uint32_t taken = std::min(populated_, arena_.high_water());
    for (uint32_t chunk = 0; chunk < taken; ++chunk) {
      const uint64_t owner =
          arena_.word(chunk).owner.load(std::memory_order_relaxed);
      if (record::OwnerState(owner) != record::ChunkState::kFree) {
        used = chunk + 1;
      }
    }
    constexpr uint32_t kAhead = 32;
    if (populated_ >= used + kAhead || populated_ >= arena_.chunk_count()) {
      return;
    }
    const uint32_t count =
        std::min(2 * kAhead, arena_.chunk_count() - populated_);
    arena_.Populate(populated_, count);
    populated_ += count;
  }

  const ChildSettings settings_;
  int fd_ = -1;
  Arena arena_;
  std::optional<cpu::RawFile> raw_;  // has them, if there is one
  std::optional<ChunkReader> reader_;
  cpu::ChunkStore store_;
  std::optional<cpu::FlightRecorder> flight_;
  uint32_t populated_ = 0;
  ClockAnchor first_anchor_, last_anchor_;
};

class CpuBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuOp, model::ActivityType::kUserAnnotation,
            model::ActivityType::kCpuInstantEvent,
            model::ActivityType::kNvtxRange, model::ActivityType::kIttTask};
  }

  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    const bool child = options.target == TargetKind::kChildProcess;
    KYMO_ASSIGN_OR_RETURN(
        const uint64_t arena_bytes,
        ParseArenaBytes(Setting(options, "arena_mib", child ? "256" : "1024")));
    KYMO_ASSIGN_OR_RETURN(
        const FullPolicy policy,
        ParsePolicy(Setting(options, "when_full", child ? "drain" : "stop")));
    if (!child && arena_bytes > record::kLocalCapacityBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("arena_mib is ", arena_bytes / kMib,
                       "; within a process it is at most ",
                       record::kLocalCapacityBytes / kMib));
    }
    KYMO_ASSIGN_OR_RETURN(const HeapSettings heap, ParseHeap(options));
    KYMO_ASSIGN_OR_RETURN(const record::RecordFlags capture,
                          ParseCapture(options));
    const record::RecordFlags flags = WantedFlags(options, heap, capture);
    KYMO_ASSIGN_OR_RETURN(
        const bool keep_raw,
        ParseSwitch("keep_raw", Setting(options, "keep_raw", "0")));
    const std::string max_memory = Setting(options, "max_memory", "");
    KYMO_RETURN_IF_ERROR(cpu::MemoryLimit(max_memory).status());
    if (child) {
      KYMO_ASSIGN_OR_RETURN(const std::optional<cpu::FlightLimit> flight,
                            ParseFlight(options));
      return std::make_unique<ChildSession>(ChildSettings{
          .target_path = options.target_path,
          .arena_bytes =
              flight && flight->bytes != 0 ? flight->bytes : arena_bytes,
          .policy = flight ? FullPolicy::kOverwrite : policy,
          .flags = flags,
          .heap_sample_interval = heap.sample_interval,
          .scratch_dir = options.scratch_dir,
          .keep_raw = keep_raw,
          .max_memory = max_memory,
          .flight = flight});
    }
    if (policy == FullPolicy::kDrain) {
      return absl::InvalidArgumentError(
          "when_full=drain needs a collector: it is for //tools:profile; "
          "within a process it takes one of: overwrite, stop");
    }
    return std::make_unique<LocalSession>(record::SessionRequest{
        .scope = options.all_threads ? record::SessionScope::kProcess
                                     : record::SessionScope::kThread,
        .flags = flags,
        .chunk_bytes_total = arena_bytes,
        .policy = policy,
        .heap_sample_interval = heap.sample_interval});
  }

 private:
  const PluginInfo info_ = {
      .name = "cpu",
      .purpose =
          "annotated ranges, instants and counters of the program, and its "
          "memory with profile_memory",
      .options =
          {{"arena_mib", "256", "memory for records, MiB"},
           {"when_full", "drain",
            "what to do when it is full: drain, overwrite or stop"},
           {"keep_raw", "0",
            "1: of a child, everything is kept as it was recorded, in kymo.raw "
            "in the output folder, even if this command is killed; "
            "//tools:report reads it"},
           {"max_memory", "",
            "memory that making a trace of a child may take, as 512MiB or "
            "4GiB: what would take more is left in kymo.raw, and comes out as "
            "table and stacks; default: three quarters of what is left"},
           {"memory_mode", "all",
            "with profile_memory: all (every allocation), sampled (one "
            "in memory_interval bytes, unbiased), counters (numbers "
            "per thread only) or reports (what the program itself "
            "reports, and no heap)"},
           {"memory_interval", "524288",
            "bytes per sample with memory_mode=sampled"},
           {"memory_stacks", "1",
            "whether an allocation keeps its stack: 0 or 1; within a "
            "process the default is that of with_stack"},
           {"memory_mappings", "0",
            "1: mmap, munmap and mremap of the program, too"},
           {"ranges", "1",
            "what the program says through Kymo: 0 or 1; 0 is the default "
            "where only nvtx or itt is asked for"},
           {"capture_nvtx", "1",
            "what libraries say through NVTX, too: 0 or 1"},
           {"capture_itt", "0",
            "what libraries say through ITT, too, such as oneTBB each of its "
            "tasks: 0 or 1"}},
      .parts = {{"itt", "what libraries say through ITT", "capture_itt"},
                {"nvtx", "what libraries say through NVTX", "capture_nvtx"}},
      .rest_option = "ranges"};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewCpuBackend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace kymo
