// Long, because all that a session does shares its state.
#include "backends/stream/child_session.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/decode/arena_shard.h"
#include "backends/stream/decode/heap_estimate.h"
#include "backends/stream/decode/preloading.h"
#include "backends/stream/decode/program_starts.h"
#include "backends/stream/door_target.h"
#include "backends/stream/kept_raw.h"
#include "backends/stream/live_sums.h"
#include "backends/stream/pages_ahead.h"
#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/free_chunks.h"
#include "backends/stream/raw/raw_dump.h"
#include "backends/stream/raw/raw_file.h"
#include "backends/stream/raw/raw_front.h"
#include "backends/stream/raw/raw_keep.h"
#include "backends/stream/trace_memory.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/plugin/target_setup.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/tool_variables.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkReader;
using record::ChunkView;
using record::FullPolicy;

constexpr uint64_t kNeverFold = ~uint64_t{0};
// Chunks whose pages are made before the target's start, which waits for them.
// Most programs have not filled two when the first Poll makes more.
constexpr uint32_t kPopulatedAtStart = 2;

class ChildSession : public ActivitySession {
 public:
  explicit ChildSession(ChildSettings settings)
      : settings_(std::move(settings)), door_(std::move(settings_.door)) {}
  ~ChildSession() override {
    if (raw_.has_value()) return;
    arena_.Unmap();
    if (fd_ >= 0) close(fd_);
  }

  absl::Status Prepare(TargetSetup* setup) override {
    KYMO_RETURN_IF_ERROR(settings_.keep_raw ? MakeRawFile() : MakeArena());
    reader_.emplace(arena_);
    pages_.emplace(arena_);
    if (settings_.flight) {
      flight_.emplace(arena_, settings_.flight->keep_ns, &store_);
    }
    pages_->Make(kPopulatedAtStart);
    if (door_.is_there()) return absl::OkStatus();
    OfferToSave();
    setup->environment[record::kArenaVariable] =
        absl::StrCat("/proc/", getpid(), "/fd/", fd_);
    setup->obstacle = ObstacleToPreloading(settings_.target_path);
    return absl::OkStatus();
  }

  absl::Status Start(pid_t pid) override {
    first_anchor_ = MeasureAnchor(arena_.clock_source());
    KYMO_RETURN_IF_ERROR(Begin(pid));
    last_anchor_ = first_anchor_;
    if (MaySum()) {
      live_.emplace(settings_.reducer, arena_, &store_,
                    LiveSumsOptions::Of(
                        first_anchor_.ticks, store_, settings_.arena_bytes,
                        settings_.max_disk, settings_.max_memory));
    } else if (settings_.max_disk) {
      store_.SetMostBytes(*settings_.max_disk);
    }
    if (raw_.has_value()) {
      // A reader of the file needs two anchors. If this process dies soon,
      // there will be no later one.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      NoteClock();
    }
    return absl::OkStatus();
  }

  void Poll() override {
    if (settings_.policy == FullPolicy::kDrain) {
      if (!live_ || !live_->is_full()) {
        reader_->DrainSealed([this](const ChunkView& view) { Store(view); });
        arena_.RecountFree();
      }
      if (live_) {
        live_->EndPass(ClockUpTo(MeasureAnchor(arena_.clock_source())));
      }
    }
    if (flight_) flight_->Poll(MonotonicNs());
    pages_->KeepAhead();
    if (raw_.has_value()) NoteClock();
  }

  absl::Status Dump(const std::string& path) override {
    if (!flight_) {
      return absl::FailedPreconditionError(
          "only a flight recorder can be dumped: record with "
          "--flight_recorder=30s, or with --cpu_keep_raw, whose file has all "
          "of it in the end");
    }
    return WriteRawDump(path, arena_,
                        [this](ChunkStore& dump) { return Fill(dump); });
  }

  absl::Status Stop() override {
    if (!door_.is_there()) AwaitAttaching(arena_);
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    if (door_.is_there()) door_.End();
    arena_.header().recording.store(0, std::memory_order_relaxed);
    stopped_ticks_ = ReadTicks(arena_.clock_source());
    return absl::OkStatus();
  }

  std::vector<std::string> Remarks() const override {
    return door_.is_there() ? door_.Remarks()
                            : DescribeUnrecorded(arena_, IsSampled());
  }

  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    reader_->ReadAll([this](const ChunkView& view) { Store(view); });
    // After a stall of the machine, all of the arena is in memory.
    DropFreeChunks(arena_, fd_);
    const uint64_t limit = MemoryLimit(settings_.max_memory);
    if (live_) {
      live_->EndPass(ClockUpTo(last_anchor_));
      if (live_->has_begun()) live_->Shrink(limit);
    }
    if (raw_.has_value()) raw_->Note(Header(/*is_complete=*/true));
    if (SaysCategories(arena_)) settings_.fold_heap_above = kNeverFold;
    const bool is_large =
        !HasSums() && TraceMemoryBytes(store_.bytes()) > limit;
    if (is_large && !MayFold()) return Keep(limit);
    std::vector<ChunkView> chunks;
    KYMO_RETURN_IF_ERROR(store_.Map(chunks));
    if (is_large && !FitsFolded(chunks, limit)) return Keep(limit);
    if (flight_) {
      for (ChunkView& chunk : chunks) chunk = WithoutOld(chunk);
      std::erase_if(chunks,
                    [](const ChunkView& chunk) { return chunk.slots.empty(); });
    }
    if (HasSums()) {
      std::erase_if(chunks, [&](const ChunkView& chunk) {
        return live_->was_dropped(chunk);
      });
      const std::vector<ChunkView> carried = live_->carried();
      chunks.insert(chunks.end(), carried.begin(), carried.end());
    }
    shard.ledger.Add(model::Loss::kDrainBytesLost, store_.lost_bytes());
    if (WasCut()) {
      shard.ledger.Add(model::Loss::kDrainBytesLost, arena_.bytes());
    }
    const ShardSize before = ShardSize::Of(shard);
    FillShard(
        {.arena = arena_,
         .chunks = std::move(chunks),
         .clock = ClockUpTo(last_anchor_),
         .first_ticket = flight_ ? kNoFirstTicket : door_.before().first_ticket,
         .losses_at_start = door_.before().losses,
         // A process that outlives the recording goes on in its chunk.
         .recorded = {{.begin = door_.before().ticks, .end = stopped_ticks_}},
         .heap_at_start = door_.before().heap,
         .heap_sample_interval = settings_.heap_sample_interval,
         .with_memory = (settings_.flags & record::kMemoryFlags) != 0,
         .with_children = !door_.is_there() && !IsSampledAnyway(),
         .was_to_hold_time = IsToHoldTime(),
         .fold_heap_above = settings_.fold_heap_above,
         .others_record_ranges = settings_.others_record_ranges,
         .release = ReleaseOfRead()},
        shard);
    if (HasSums()) {
      live_->Finish(stopped_ticks_);
      shard.ledger.Add(model::Loss::kEventsOverwritten,
                       live_->dropped().events);
      shard.ledger.Add(model::Loss::kCounterValuesSummed,
                       live_->dropped().counter_values);
      shard.ledger.Add(model::Loss::kDrainBytesLost, live_->lost_bytes());
    }
    if (IsSampledAnyway()) {
      const uint64_t unsampled = CountUnsampled(arena_);
      shard.ledger.Add(
          model::Loss::kProcessesNotRecorded,
          unsampled - std::min(unsampled, settings_.sampled->unseen_programs));
    }
    door_.Leave(before, shard);
    return Collected{};
  }

 private:
  // A raw file is there already, and of a flight recorder this process has what
  // is to be kept.
  void OfferToSave() {
    if (settings_.last_records == nullptr || raw_ || flight_) return;
    first_anchor_ = MeasureAnchor(arena_.clock_source());
    LastRecords& last = *settings_.last_records;
    last.descriptors.insert(last.descriptors.end(), {fd_, store_.fd()});
    last.savers.push_back([this] { SaveLast(); });
  }

  // In a copy of this process, which has died since then.
  void SaveLast() {
    arena_.header().recording.store(0, std::memory_order_relaxed);
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    store_.FindEnd();
    reader_->ReadAll([this](const ChunkView& view) { store_.Add(view); });
    const absl::Status status = KeepRawFile(store_.fd(), RawPath(), arena_,
                                            Header(/*is_complete=*/false));
    if (!status.ok()) {
      // Nobody is there to be told. Whoever looks for the file finds none.
    }
  }

  // Bounds how far the clock is extrapolated if this process dies.
  static constexpr int64_t kNoteEveryNs = 100 * kNsPerMs;

  record::ArenaOptions Options() const {
    return {.capacity_bytes = settings_.arena_bytes,
            .chunk_bytes_total = settings_.arena_bytes,
            .policy = settings_.policy,
            .clock_source = DetectClockSource()};
  }

  // Keeps the records in a raw file instead of a trace. Making the trace could
  // kill this process, and lose the records.
  absl::StatusOr<Collected> Keep(uint64_t limit) const {
    const std::string path = RawPath();
    if (!raw_.has_value()) {
      KYMO_RETURN_IF_ERROR(
          KeepRawFile(store_.fd(), path, arena_, Header(/*is_complete=*/true)));
    }
    return Collected{KeptRaw(path, store_.bytes(), limit)};
  }

  TickConverter ClockUpTo(const ClockAnchor& last) const {
    return TickConverter(arena_.clock_source(), first_anchor_, last,
                         EpochOffsetNs());
  }

  void Store(const ChunkView& view) {
    if (live_) {
      live_->Store(view);
    } else {
      store_.Add(view);
    }
  }

  // Sums have neither allocations nor stacks.
  bool MaySum() const {
    return settings_.reducer != nullptr && !settings_.keep_raw &&
           !settings_.flight && settings_.policy == FullPolicy::kDrain &&
           !settings_.others_record_ranges &&
           (settings_.flags & (record::kMemoryFlags | record::kGateStacks)) ==
               0;
  }

  bool HasSums() const { return live_ && live_->has_begun(); }

  // True if another process has shortened the raw file: the arena is then
  // zeros.
  bool WasCut() const { return arena_.header().magic != record::kArenaMagic; }

  std::string RawPath() const { return settings_.scratch_dir + "/kymo.raw"; }

  absl::Status MakeArena() {
    if (door_.is_there()) {
      KYMO_ASSIGN_OR_RETURN(arena_, door_.Take(&fd_));
    } else {
      arena_ = Arena::CreateShared(Options(), &fd_);
    }
    if (!arena_.valid()) {
      const char* const limit = errno == EFBIG    ? "file sizes (ulimit -f)"
                                : errno == ENOMEM ? "memory (ulimit -v)"
                                                  : "this kind";
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot make the shared arena; try a larger "
                              "limit of ",
                              limit, ", or a smaller --cpu_arena_mib"));
    }
    return store_.Open(settings_.scratch_dir, RawChunksBegin(arena_));
  }

  absl::Status Begin(pid_t pid) {
    if (door_.is_there()) {
      return door_.Begin(
          arena_, {.record_flags = settings_.flags,
                   .heap_sample_interval = settings_.heap_sample_interval,
                   .chunk_bytes = settings_.arena_bytes});
    }
    // The program that this process is about to become.
    arena_.AddStart(pid, settings_.target_path, MonotonicNs());
    arena_.header().heap_sample_interval.store(settings_.heap_sample_interval,
                                               std::memory_order_relaxed);
    arena_.header().record_flags.store(settings_.flags,
                                       std::memory_order_relaxed);
    arena_.header().recording.store(1, std::memory_order_relaxed);
    return absl::OkStatus();
  }

  absl::Status MakeRawFile() {
    KYMO_ASSIGN_OR_RETURN(raw_, RawFile::Create(RawPath(), Options()));
    arena_ = raw_->arena();
    fd_ = raw_->fd();
    store_.OpenAt(fd_, raw_->chunks_begin());
    return absl::OkStatus();
  }

  bool MayFold() const {
    return settings_.fold_heap_above != kNeverFold &&
           settings_.heap_sample_interval == 0 &&
           (settings_.flags & record::kMemoryFlags) != 0;
  }

  bool FitsFolded(std::span<const ChunkView> chunks, uint64_t limit) const {
    return FoldedTraceBytes(
               {.chunks = chunks,
                .fold_above = settings_.fold_heap_above,
                .others_record_ranges = settings_.others_record_ranges,
                .most_bytes = limit,
                .release = ReleaseOfRead()})
        .has_value();
  }

  // Where memory is short: of heaps that are folded, and of long recordings.
  std::function<void(const ChunkView&)> ReleaseOfRead() const {
    constexpr uint64_t kFewBytes = 64 * kMib;
    if (settings_.fold_heap_above == kNeverFold && !HasSums() &&
        store_.bytes() <= kFewBytes) {
      return nullptr;
    }
    return [this](const ChunkView& chunk) { store_.Release(chunk); };
  }

  RawHeader Header(bool is_complete) const {
    return {.with_memory = (settings_.flags & record::kMemoryFlags) != 0,
            .epoch_offset_ns = EpochOffsetNs(),
            .heap_sample_interval = settings_.heap_sample_interval,
            .lost_bytes = store_.lost_bytes(),
            .first_anchor = first_anchor_,
            .last_anchor = last_anchor_,
            .is_complete = is_complete,
            .was_to_hold_time = IsToHoldTime()};
  }

  // Whether samples have the programs that never attach.
  bool IsSampled() const {
    return !door_.is_there() && settings_.sampled && settings_.sampled->all;
  }

  // Whether such a program is in the recording all the same: its heap, if
  // wanted, would be missing.
  bool IsSampledAnyway() const {
    return IsSampled() && (settings_.flags & record::kMemoryFlags) == 0;
  }

  bool IsToHoldTime() const {
    return settings_.flight && settings_.flight->keep_ns != 0;
  }

  // Adds the flight recorder's present chunks to `dump`.
  RawHeader Fill(ChunkStore& dump) {
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    for (const ChunkView& kept : flight_->kept()) dump.Add(kept);
    SnapshotChunks(arena_, [&](const ChunkView& view) {
      const ChunkView left = WithoutOld(view);
      if (!left.slots.empty()) dump.Add(left);
    });
    last_anchor_ = MeasureAnchor(arena_.clock_source());
    return Header(/*is_complete=*/true);
  }

  // For a flight recorder with a time to keep. REQUIRES: the last anchor was
  // taken now, or at the end.
  ChunkView WithoutOld(const ChunkView& chunk) const {
    if (!IsToHoldTime() || chunk.ticket >= kKeptTicket) {
      return chunk;
    }
    const TickConverter clock = ClockUpTo(last_anchor_);
    return stream::WithoutOld(
        chunk, clock,
        clock.ToEpochNs(last_anchor_.ticks) - settings_.flight->keep_ns);
  }

  // Notes the second anchor of the raw file, in case this process dies. The
  // further it is from the first anchor, the more exact is the clock.
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

  ChildSettings settings_;
  DoorTarget door_;
  int fd_ = -1;
  Arena arena_;
  std::optional<RawFile> raw_;  // if there is one, it has the chunks
  std::optional<ChunkReader> reader_;
  ChunkStore store_;
  std::optional<LiveSums> live_;
  std::optional<FlightRecorder> flight_;
  std::optional<PagesAhead> pages_;
  ClockAnchor first_anchor_, last_anchor_;
  uint64_t stopped_ticks_ = 0;
};

}  // namespace

std::unique_ptr<ActivitySession> NewChildSession(ChildSettings settings) {
  return std::make_unique<ChildSession>(std::move(settings));
}

}  // namespace kymo::stream
