#include "backends/host/counter_log.h"

namespace kymo::host {

model::TrackIndex CounterLog::TrackOf(int64_t pid) {
  const auto [it, is_new] = tracks_.try_emplace(
      pid, static_cast<model::TrackIndex>(shard_.tracks.size()));
  if (is_new) {
    shard_.tracks.push_back(
        {.kind = model::TrackKind::kThread, .pid = pid, .id = pid});
  }
  return it->second;
}

void CounterLog::NameProcess(int64_t pid, int64_t parent_pid,
                             std::string_view name) {
  const auto [it, is_new] =
      processes_.try_emplace(pid, shard_.processes.size());
  if (is_new) shard_.processes.push_back({.pid = pid});
  model::Process& process = shard_.processes[it->second];
  process.parent_pid = parent_pid;
  process.name = shard_.strings.Intern(name);
}

void CounterLog::Add(const model::CounterSample& value) {
  if (values_ >= max_values_) {
    ++lost_;
    return;
  }
  if (blocks_.empty() || blocks_.back().size() == kBlockValues) {
    std::vector<model::CounterSample> block;
    block.reserve(kBlockValues);
    blocks_.push_back(std::move(block));
  }
  blocks_.back().push_back(value);
  ++values_;
}

void CounterLog::MoveTo(model::TraceShard& shard) {
  shard = std::exchange(shard_, {});
  // Memory that is only reserved takes none of the machine's.
  shard.counters.reserve(std::exchange(values_, 0));
  for (std::vector<model::CounterSample>& block : blocks_) {
    shard.counters.insert(shard.counters.end(), block.begin(), block.end());
    std::vector<model::CounterSample>().swap(block);
  }
  blocks_.clear();
  tracks_.clear();
  processes_.clear();
  shard.ledger.Add(model::Loss::kCounterValuesDropped, std::exchange(lost_, 0));
}

void Gauge::Set(CounterLog& log, TimeNs time_ns, double value) {
  if (!track_) {
    track_ = log.TrackOf(pid_);
    id_ = log.NameOf(name_);
  }
  log.Add({.track = *track_, .name = id_, .time_ns = time_ns, .value = value});
}

void Rate::Update(CounterLog& log, TimeNs now_ns, uint64_t count) {
  if (before_ns_ != 0) {
    if (now_ns <= before_ns_) return;
    const double seconds = static_cast<double>(now_ns - before_ns_) /
                           static_cast<double>(kNsPerSecond);
    const auto growth = static_cast<double>(Growth(before_, count));
    gauge_.Set(log, before_ns_, unit_ * growth / seconds);
  }
  before_ = count;
  before_ns_ = now_ns;
}

}  // namespace kymo::host
