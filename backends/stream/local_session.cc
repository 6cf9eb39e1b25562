#include "backends/stream/local_session.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/decode/arena_shard.h"
#include "backends/stream/flight_recorder.h"
#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_dump.h"
#include "profiler/base/clock.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/processes/process_list.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/copies.h"
#include "profiler/record/host/threads_outside.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkReader;
using record::ChunkView;
using record::FullPolicy;

class LocalSession : public ActivitySession {
 public:
  explicit LocalSession(const record::SessionRequest& request)
      : request_(request) {}
  ~LocalSession() override {
    // A forked child may have a session of its own with this number.
    if (id_ == record::kNoSession || getpid() != pid_) return;
    record::StopSession(id_);
    if (!recorded_.empty() && recorded_.back().end == kOpenEnd) {
      recorded_.back().end = ReadTicks(source_);
    }
    ChunkReader reader(*record::ProcessArena());
    Release(reader);
  }

  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }

  absl::Status Start(pid_t pid) override {
    pid_ = pid;
    const Arena* arena = record::ProcessArena();
    source_ = arena != nullptr ? arena->clock_source() : DetectClockSource();
    KYMO_RETURN_IF_ERROR(StartStatus(record::StartSession(request_, &id_)));
    // Not before: what is recorded until here may be another session's.
    recorded_.push_back({.begin = ReadTicks(source_), .end = kOpenEnd});
    arena = record::ProcessArena();
    record::HeapMode(&heap_sample_interval_);
    losses_at_start_ = ReadLosses(*arena);
    heap_at_start_ = ReadHeapNumbers(*arena);
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
          "the setting cpu_when_full=overwrite");
    }
    const Arena& arena = *record::ProcessArena();
    return WriteRawDump(path, arena, [&](ChunkStore& dump) {
      SnapshotSession(arena, Chunks(),
                      [&](const ChunkView& view) { AddOurs(view, dump); });
      return RawHeader{.epoch_offset_ns = EpochOffsetNs(),
                       .first_anchor = first_anchor_,
                       .last_anchor = MeasureAnchor(source_),
                       .is_complete = 1,
                       .keeps_newest = 1,
                       .losses_before = losses_at_start_};
    });
  }

  absl::Status Stop() override {
    if (getpid() != pid_) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the session is that of process ", pid_, ", which forked this one"));
    }
    last_anchor_ = MeasureAnchor(source_);
    const int error = record::StopSession(id_);
    AddRemark(record::ThreadsOutside(id_));
    AddRemarkOnOtherVersion();
    if (recorded_.back().end == kOpenEnd) {
      recorded_.back().end = ReadTicks(source_);
    }
    return error == 0 ? absl::OkStatus()
                      : absl::ErrnoToStatus(error, "no session is recording");
  }

  std::vector<std::string> Remarks() const override { return remarks_; }

  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    const Arena& arena = *record::ProcessArena();
    ChunkReader reader(arena);
    // The taken ones, and then the copies of those that others may have, too.
    std::vector<ChunkView> chunks, shared;
    const auto add_to = [this](std::vector<ChunkView>& views) {
      return [this, &views](const ChunkView& view) {
        if (HoldsOurs(view)) views.push_back(view);
      };
    };
    if (MayTakeChunks(arena)) {
      reader.TakeSession(Chunks(), add_to(chunks), add_to(shared));
    } else {
      reader.ReadSession(Chunks(), add_to(shared));
    }
    // Copies, since chunks are handed on and threads go on writing. A chunk
    // that another session took before its copy was whole is left out: that
    // thread counts its events as overwritten.
    std::vector<std::unique_ptr<record::Slot[]>> copies(shared.size());
    ParallelForEach(shared.size(), [&](size_t i) {
      copies[i] = record::CopySlots(shared[i].slots);
      const bool is_still = record::IsStill(arena, shared[i]);
      shared[i].slots = {copies[i].get(),
                         is_still ? shared[i].slots.size() : 0};
    });
    std::ranges::copy_if(
        shared, std::back_inserter(chunks),
        [](const ChunkView& view) { return !view.slots.empty(); });
    FillShard({.arena = arena,
               .chunks = std::move(chunks),
               .clock = TickConverter(source_, first_anchor_, last_anchor_,
                                      EpochOffsetNs()),
               .first_ticket = request_.policy == FullPolicy::kOverwrite
                                   ? kNoFirstTicket
                                   : first_ticket_,
               .losses_at_start = losses_at_start_,
               .recorded = recorded_,
               .heap_at_start = std::move(heap_at_start_),
               .heap_sample_interval = heap_sample_interval_,
               .details = {.inputs = Wants(record::kGateInputs),
                           .stacks = Wants(record::kGateStacks),
                           .overload_names = Wants(record::kGateOverloads)},
               .with_memory = (request_.flags & record::kMemoryFlags) != 0,
               .with_children = false},
              shard);
    Release(reader);
    NameProcess(shard);
    return Collected{};
  }

 private:
  static constexpr uint64_t kOpenEnd = ~uint64_t{0};

  // Only for a command does a process say in the arena what it is.
  void NameProcess(model::TraceShard& shard) const {
    const auto is_it = [this](const model::Process& process) {
      return process.pid == pid_;
    };
    if (std::ranges::any_of(shard.processes, is_it)) return;
    shard.processes.push_back(
        {.pid = pid_,
         .parent_pid = getppid(),
         .name = shard.strings.Intern(processes::NameOf(pid_, pid_))});
  }

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

  // Once in a process: one whose threads have a session each means it so.
  void AddRemark(uint32_t threads) {
    static std::atomic<bool> was_said = false;
    if (threads == 0 || was_said.exchange(true)) return;
    remarks_.push_back(absl::StrCat(
        threads, threads == 1 ? " other thread" : " other threads", " ran ",
        Wants(record::kMemoryFlags) ? "ranges or allocations" : "ranges",
        " that this session does not record. To record all threads, set "
        "experimental_config.profile_all_threads; or hand the session on with "
        "kymo::Propagate"));
  }

  void AddRemarkOnOtherVersion() {
    static std::atomic<bool> was_said = false;
    char file[4096];
    if (!record::FindOtherVersion(file, sizeof(file)) ||
        was_said.exchange(true)) {
      return;
    }
    remarks_.push_back(absl::StrCat(
        file[0] == '\0' ? "A part of this program" : file,
        " was built with another version of Kymo, so its ranges are not in "
        "this session: build both with one version"));
  }

  bool Wants(record::RecordFlags flag) const {
    return (request_.flags & flag) != 0;
  }

  // Adds the chunk's records from the times at which this session was on.
  void AddOurs(const ChunkView& view, ChunkStore& dump) const {
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
      const uint64_t begin =
          view.slots[i].begin.load(std::memory_order_relaxed);
      if (!IsInAny(recorded_, begin)) {
        add_up_to(i);
        first = i + taken;
      }
      i += taken;
    }
    add_up_to(view.slots.size());
  }

  // Whether the chunk has any record from this session's time.
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

  record::SessionChunks Chunks() const {
    return {.session = id_,
            .pid = pid_,
            .all_threads = request_.scope == record::SessionScope::kProcess,
            .end_ticks = recorded_.back().end};
  }

  static bool HasCollector(const Arena& arena) {
    return arena.header().recording.load(std::memory_order_relaxed) != 0;
  }
  // Under kDrain a command has the arena, and frees what nobody reads when it
  // leaves; under kOverwrite, threads of other sessions may need the chunks. In
  // a forked child, they are its parent's.
  bool MayTakeChunks(const Arena& arena) const {
    return getpid() == pid_ && !HasCollector(arena) &&
           arena.policy() == FullPolicy::kStop;
  }

  // Hands the chunks on to the collector.
  void Release(ChunkReader& reader) {
    // In a forked child, the records are its parent's.
    if (getpid() != pid_) return;
    reader.Release(
        Chunks(), HasCollector(*record::ProcessArena()),
        [](size_t count, const auto& call) { ParallelForEach(count, call); });
    record::ReleaseSession(id_);
    id_ = record::kNoSession;
  }

  const record::SessionRequest request_;
  record::SessionId id_ = record::kNoSession;
  pid_t pid_ = 0;
  ClockSource source_ = ClockSource::kSystem;
  std::vector<TickInterval> recorded_;  // when it was switched on
  ClockAnchor first_anchor_, last_anchor_;
  uint64_t first_ticket_ = 0;
  LossCounters losses_at_start_;
  std::vector<HeapNumbers> heap_at_start_;
  uint64_t heap_sample_interval_ = 0;
  std::vector<std::string> remarks_;
};

}  // namespace

std::unique_ptr<ActivitySession> NewLocalSession(
    const record::SessionRequest& request) {
  return std::make_unique<LocalSession>(request);
}

}  // namespace kymo::stream
