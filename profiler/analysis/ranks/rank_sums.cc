#include "profiler/analysis/ranks/rank_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "profiler/analysis/ranks/mpi_calls.h"

namespace kymo::analysis {
namespace {

constexpr uint64_t kSumsMagic = 0x31736d757352796b;  // another one for changes
constexpr int kBuckets = 256;

// Both are well below what an int64_t holds, also for many ranks.
DurationNs Plus(DurationNs a, DurationNs b) {
  DurationNs sum;
  return __builtin_add_overflow(a, b, &sum)
             ? std::numeric_limits<DurationNs>::max()
             : sum;
}

class SumsWriter {
 public:
  template <typename T>
  void Number(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(std::string_view text) {
    Number(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }
  void Numbers(const RankNumbers& numbers) { Number(numbers); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Fails for good as soon as something is missing.
class SumsReader {
 public:
  explicit SumsReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Number() {
    T value = {};
    if (bytes_.size() < sizeof(value)) {
      failed_ = true;
      return {};
    }
    memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  std::string Text() {
    const auto size = Number<uint64_t>();
    if (size > bytes_.size()) {
      failed_ = true;
      return "";
    }
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  // How many things of at least `bytes` bytes follow.
  uint64_t Count(size_t bytes) {
    const auto count = Number<uint64_t>();
    if (count > bytes_.size() / bytes) failed_ = true;
    return failed_ ? 0 : count;
  }
  bool failed() const { return failed_; }
  bool IsAtEnd() const { return !failed_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

bool HasEnclosingOfItsName(const model::Trace& trace, model::EventIndex event) {
  const model::NameId name = trace.name()[event];
  for (model::EventIndex up = trace.parent()[event]; up != model::kNoEvent;
       up = trace.parent()[up]) {
    if (trace.name()[up] == name) return true;
  }
  return false;
}

// What the rank's main thread did outside of MPI.
DurationNs WorkOf(const model::Trace& trace) {
  const RankCalls calls = FindRankCalls(trace);
  DurationNs work = trace.end_ns() - trace.start_ns();
  if (calls.ranks.empty()) return work;
  const Rank& rank = calls.ranks.front();
  work = rank.end_ns - rank.begin_ns;
  for (const MpiCall& call : calls.calls) {
    if (call.rank != 0 || call.is_request || call.on_device) continue;
    const TimeNs begin = trace.start()[call.event];
    // The thread that initialised MPI has the process's number.
    const model::Track& track = trace.tracks()[trace.track()[call.event]];
    if (begin < rank.begin_ns || begin >= rank.end_ns || track.id != rank.pid) {
      continue;
    }
    work -= std::min(trace.end()[call.event], rank.end_ns) - begin;
  }
  return std::max<DurationNs>(work, 0);
}

}  // namespace

void RankNumbers::Add(DurationNs value, int64_t rank) {
  const auto number = static_cast<double>(value);
  Merge({.count = 1,
         .sum_ns = value,
         .square_sum = number * number,
         .least_ns = value,
         .least_rank = rank,
         .most_ns = value,
         .most_rank = rank});
}

void RankNumbers::Merge(const RankNumbers& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  count += other.count;
  sum_ns = Plus(sum_ns, other.sum_ns);
  square_sum += other.square_sum;
  // Of equal numbers the lower rank's, so that the order does not matter.
  std::tie(least_ns, least_rank) =
      std::min(std::pair(least_ns, least_rank),
               std::pair(other.least_ns, other.least_rank));
  const auto most = std::max(std::pair(most_ns, -most_rank),
                             std::pair(other.most_ns, -other.most_rank));
  most_ns = most.first;
  most_rank = -most.second;
}

double RankNumbers::mean_ns() const {
  return count == 0 ? 0
                    : static_cast<double>(sum_ns) / static_cast<double>(count);
}

double RankNumbers::deviation_ns() const {
  if (count == 0) return 0;
  const double mean = mean_ns();
  return std::sqrt(
      std::max(0.0, square_sum / static_cast<double>(count) - mean * mean));
}

int DurationBucket(DurationNs duration) {
  if (duration < 4) return static_cast<int>(std::max<DurationNs>(duration, 0));
  const auto value = static_cast<uint64_t>(duration);
  const int power = std::bit_width(value) - 1;
  return 4 * (power - 1) + static_cast<int>(value >> (power - 2) & 3);
}

DurationNs DurationBucketEnd(int bucket) {
  if (bucket < 4) return bucket;
  const int power = bucket / 4 + 1;
  const uint64_t quarter = uint64_t{1} << (power - 2);
  const uint64_t next = (uint64_t{1} << power) + (bucket % 4 + 1) * quarter;
  return static_cast<DurationNs>(next - 1);
}

DurationNs NameSums::QuantileNs(double part) const {
  const double wanted = part * static_cast<double>(calls.count);
  int64_t seen = 0;
  for (const auto& [bucket, count] : histogram) {
    seen += count;
    if (static_cast<double>(seen) >= wanted) {
      return std::clamp(DurationBucketEnd(bucket), calls.least_ns,
                        calls.most_ns);
    }
  }
  return calls.most_ns;
}

RankSums RankSums::Of(const model::Trace& trace, int64_t rank) {
  RankSums sums;
  std::map<model::NameId, std::pair<NameSums, DurationNs>> by_name;
  for (model::EventIndex e = 0; e < trace.event_count(); ++e) {
    if (!model::IsRange(trace.flags()[e])) continue;
    auto& [of, total] = by_name[trace.name()[e]];
    const DurationNs duration = trace.end()[e] - trace.start()[e];
    of.calls.Add(duration, rank);
    ++of.histogram[DurationBucket(duration)];
    if (!HasEnclosingOfItsName(trace, e)) total = Plus(total, duration);
  }
  for (auto& [name, of] : by_name) {
    of.first.totals.Add(of.second, rank);
    sums.names_.emplace(std::string(trace.Name(name)), std::move(of.first));
  }
  sums.ranks_ = {{.rank = rank, .work_ns = WorkOf(trace)}};
  sums.LimitNames();
  return sums;
}

void RankSums::Merge(const RankSums& other) {
  for (const auto& [name, theirs] : other.names_) {
    NameSums& ours = names_[name];
    ours.calls.Merge(theirs.calls);
    ours.totals.Merge(theirs.totals);
    for (const auto& [bucket, count] : theirs.histogram) {
      ours.histogram[bucket] += count;
    }
  }
  std::vector<RankWork> all;
  std::merge(
      ranks_.begin(), ranks_.end(), other.ranks_.begin(), other.ranks_.end(),
      std::back_inserter(all),
      [](const RankWork& a, const RankWork& b) { return a.rank < b.rank; });
  ranks_ = std::move(all);
  LimitNames();
}

void RankSums::LimitNames() {
  if (names_.size() <= kMostNames) return;
  std::vector<std::pair<DurationNs, std::string_view>> by_time;
  for (const auto& [name, of] : names_) {
    if (name != kOthers) by_time.emplace_back(-of.totals.sum_ns, name);
  }
  std::nth_element(by_time.begin(), by_time.begin() + (kMostNames - 1),
                   by_time.end());
  RankSums others;
  for (size_t i = kMostNames - 1; i < by_time.size(); ++i) {
    const auto at = names_.find(by_time[i].second);
    RankSums one;
    one.names_.emplace(kOthers, std::move(at->second));
    others.Merge(one);
    names_.erase(at);
  }
  Merge(others);
}

std::string RankSums::Serialize() const {
  SumsWriter out;
  out.Number(kSumsMagic);
  out.Number(static_cast<uint64_t>(ranks_.size()));
  for (const RankWork& rank : ranks_) out.Number(rank);
  out.Number(static_cast<uint64_t>(names_.size()));
  for (const auto& [name, of] : names_) {
    out.Text(name);
    out.Number(of.calls);
    out.Number(of.totals);
    out.Number(static_cast<uint64_t>(of.histogram.size()));
    for (const auto& [bucket, count] : of.histogram) {
      out.Number(static_cast<int64_t>(bucket));
      out.Number(count);
    }
  }
  return out.Take();
}

std::optional<RankSums> RankSums::Parse(std::string_view bytes) {
  SumsReader in(bytes);
  if (in.Number<uint64_t>() != kSumsMagic) return std::nullopt;
  RankSums sums;
  const uint64_t ranks = in.Count(sizeof(RankWork));
  for (uint64_t i = 0; i < ranks; ++i) {
    sums.ranks_.push_back(in.Number<RankWork>());
  }
  const uint64_t names = in.Count(2 * sizeof(RankNumbers));
  for (uint64_t i = 0; i < names && !in.failed(); ++i) {
    std::string name = in.Text();
    NameSums of;
    of.calls = in.Number<RankNumbers>();
    of.totals = in.Number<RankNumbers>();
    const uint64_t buckets = in.Count(2 * sizeof(int64_t));
    for (uint64_t j = 0; j < buckets; ++j) {
      const auto bucket = in.Number<int64_t>();
      if (bucket < 0 || bucket >= kBuckets) return std::nullopt;
      of.histogram[static_cast<int>(bucket)] = in.Number<int64_t>();
    }
    sums.names_.emplace(std::move(name), std::move(of));
  }
  const bool is_sorted = std::is_sorted(
      sums.ranks_.begin(), sums.ranks_.end(),
      [](const RankWork& a, const RankWork& b) { return a.rank < b.rank; });
  if (!in.IsAtEnd() || !is_sorted) return std::nullopt;
  return sums;
}

std::vector<int64_t> RankSums::MostInteresting(
    size_t count, std::optional<int64_t> first) const {
  std::vector<std::pair<DurationNs, int64_t>> by_work;
  for (const RankWork& rank : ranks_) {
    by_work.emplace_back(rank.work_ns, rank.rank);
  }
  std::sort(by_work.begin(), by_work.end());
  const size_t size = by_work.size();
  std::set<int64_t> chosen;
  if (first && count > 0) chosen.insert(*first);
  const auto choose = [&](size_t index) {
    if (index < size && chosen.size() < count) {
      chosen.insert(by_work[index].second);
    }
  };
  for (size_t i = 0; i < size && chosen.size() < count; ++i) {
    choose(size - 1 - i);  // the slowest
    choose(i);             // the fastest
    const size_t middle = size / 2;
    choose(i % 2 == 0 ? middle + i / 2 : middle - (i + 1) / 2);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace kymo::analysis
