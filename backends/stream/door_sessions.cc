#include "backends/stream/door_sessions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/trace_memory.h"
#include "profiler/base/column.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace_shard.h"

namespace kymo::stream {
namespace {

template <typename T>
Column<T> Rows(const Column<T>& column, size_t begin, size_t end) {
  if (column.empty()) return {};
  return Column<T>(column.begin() + static_cast<ptrdiff_t>(begin),
                   column.begin() + static_cast<ptrdiff_t>(end));
}

// The block's events as those of single tracks, so that another block can come.
void SplitBlock(model::TraceShard& shard) {
  const model::EventBlock block = std::exchange(shard.block, {});
  size_t begin = 0;
  for (const model::EventBlock::Part& part : block.parts) {
    model::TrackEvents& events = shard.events.emplace_back();
    events.track = part.track;
    events.start_ns = Rows(block.start_ns, begin, part.end);
    events.end_ns = Rows(block.end_ns, begin, part.end);
    events.name = Rows(block.name, begin, part.end);
    events.type = Rows(block.type, begin, part.end);
    events.scope = Rows(block.scope, begin, part.end);
    events.flags = Rows(block.flags, begin, part.end);
    events.depth = Rows(block.depth, begin, part.end);
    events.detail = Rows(block.detail, begin, part.end);
    begin = part.end;
  }
}

class DoorSessions : public ActivitySession {
 public:
  explicit DoorSessions(std::vector<NamedSession> sessions)
      : sessions_(std::move(sessions)) {}

  absl::Status Prepare(TargetSetup* setup) override {
    return ForEach(
        [=](const NamedSession& one) { return one.session->Prepare(setup); });
  }
  absl::Status Start(pid_t pid) override {
    return ForEach(
        [=](const NamedSession& one) { return one.session->Start(pid); });
  }
  void Poll() override {
    for (const NamedSession& one : sessions_) one.session->Poll();
  }
  absl::Status Stop() override {
    return ForEach([](const NamedSession& one) { return one.session->Stop(); });
  }
  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    Column<model::MemoryRecord> memory;
    KYMO_RETURN_IF_ERROR(ForEach([&](const NamedSession& one) {
      const absl::Status status = one.session->Collect(shard).status();
      if (!status.ok()) {
        shard.ledger.Add(model::Loss::kProcessesNotRecorded, 1);
        return absl::Status(status.code(),
                            absl::StrCat(one.name, ": ", status.message()));
      }
      SplitBlock(shard);
      memory.insert(memory.end(), shard.memory.begin(), shard.memory.end());
      shard.memory.clear();
      return absl::OkStatus();
    }));
    shard.memory = std::move(memory);
    return Collected{};
  }

  std::vector<std::string> Remarks() const override {
    std::vector<std::string> remarks = remarks_;
    for (const NamedSession& one : sessions_) {
      for (std::string& remark : one.session->Remarks()) {
        remarks.push_back(std::move(remark));
      }
    }
    return remarks;
  }

 private:
  // Goes on without those for which `call` has an error, if any is left.
  template <typename Call>
  absl::Status ForEach(Call call) {
    absl::Status last;
    std::erase_if(sessions_, [&](const NamedSession& one) {
      const absl::Status status = call(one);
      if (status.ok()) return false;
      last = status;
      remarks_.emplace_back(status.message());
      return true;
    });
    return sessions_.empty() ? last : absl::OkStatus();
  }

  std::vector<NamedSession> sessions_;
  std::vector<std::string> remarks_;
};

}  // namespace

std::unique_ptr<ActivitySession> JoinSessions(
    std::vector<NamedSession> sessions) {
  return std::make_unique<DoorSessions>(std::move(sessions));
}

std::unique_ptr<ActivitySession> NewDoorSession(
    ChildSettings settings,
    const std::vector<std::shared_ptr<door::OpenDoor>>& doors) {
  if (doors.size() == 1) {
    settings.door = doors.front();
    return NewChildSession(std::move(settings));
  }
  // A file or sums would be those of one program.
  const uint64_t records = RecordBytesFor(MemoryLimit(settings.max_memory));
  settings.max_disk =
      std::min(settings.max_disk.value_or(records), records) / doors.size();
  settings.max_memory = kMostMemoryLimit;
  settings.fold_heap_above = ~uint64_t{0};
  settings.reducer = nullptr;
  std::vector<NamedSession> sessions;
  for (const std::shared_ptr<door::OpenDoor>& door : doors) {
    settings.door = door;
    sessions.push_back({door->name(), NewChildSession(settings)});
  }
  return JoinSessions(std::move(sessions));
}

}  // namespace kymo::stream
