#include "importers/chrome/flame_samples.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "importers/chrome/json/decimal.h"

namespace kymo::chrome_import {
namespace {

using model::StackId;

// A period in which the stack does not change.
struct Stretch {
  TimeNs start = 0;
  TimeNs end = 0;
  StackId stack = model::kEmptyStack;
};

class Sampler {
 public:
  Sampler(std::vector<Range> slices, model::TrackIndex track,
          model::TraceShard& shard)
      : slices_(std::move(slices)), track_(track), shard_(shard) {
    std::stable_sort(
        slices_.begin(), slices_.end(), [](const Range& a, const Range& b) {
          return a.start != b.start ? a.start < b.start : a.end > b.end;
        });
  }

  void Run() {
    FindStretches();
    if (stretches_.empty()) return;
    const DurationNs period = std::max(FindPeriod(), LeastPeriod());
    shard_.sampling_period_ns = std::max(shard_.sampling_period_ns, period);
    for (size_t i = 0; i < stretches_.size(); ++i) {
      AddSamples(stretches_[i], IsBeforeGap(i), period);
    }
  }

 private:
  struct Open {
    TimeNs end = 0;
    StackId stack = model::kEmptyStack;
  };

  void FindStretches() {
    std::vector<Open> open;
    TimeNs now = 0;
    const auto pass = [&](TimeNs until) {
      while (!open.empty() && now < until) {
        const TimeNs end = std::min(open.back().end, until);
        if (end > now) stretches_.push_back({now, end, open.back().stack});
        now = std::max(now, end);
        while (!open.empty() && open.back().end <= now) open.pop_back();
      }
      now = std::max(now, until);
    };
    if (!slices_.empty()) now = slices_.front().start;
    for (const Range& slice : slices_) {
      // A slice without length holds no sample.
      if (slice.end <= slice.start) continue;
      pass(slice.start);
      const StackId below =
          open.empty() ? model::kEmptyStack : open.back().stack;
      const StackId stack = shard_.stacks.Push(below, FrameOf(slice));
      // A slice that reaches over the end of the slice around it is cut there.
      const TimeNs end =
          open.empty() ? slice.end : std::min(slice.end, open.back().end);
      open.push_back({end, stack});
    }
    while (!open.empty()) pass(open.front().end);
  }

  model::FrameId FrameOf(const Range& slice) {
    model::Frame frame;
    if (shard_.strings.Get(slice.name) != "[unknown]") {
      frame.function = slice.name;
    }
    if (slice.detail == model::kNoDetail) return shard_.stacks.AddFrame(frame);
    const model::Detail detail = shard_.details[slice.detail];
    for (uint32_t a = detail.args_begin; a < detail.args_end; ++a) {
      const model::Arg& arg = shard_.args[a];
      if (arg.type != model::ArgType::kString) continue;
      const std::string_view key = shard_.strings.Get(arg.key);
      if (key == "module") frame.module = arg.string_value();
      if (key == "file") SetPlace(arg.string_value(), frame);
    }
    return shard_.stacks.AddFrame(frame);
  }

  // "h.c:12"
  void SetPlace(model::NameId name, model::Frame& frame) {
    const std::string_view place = shard_.strings.Get(name);
    const size_t colon = place.rfind(':');
    const auto line = colon == std::string_view::npos
                          ? std::nullopt
                          : ParseUint(place.substr(colon + 1));
    frame.file = line ? shard_.strings.Intern(place.substr(0, colon)) : name;
    frame.line = line && std::in_range<uint32_t>(*line)
                     ? static_cast<uint32_t>(*line)
                     : 0;
  }

  bool IsBeforeGap(size_t i) const {
    return i + 1 == stretches_.size() ||
           stretches_[i + 1].start > stretches_[i].end;
  }

  DurationNs FindPeriod() const {
    DurationNs period = 0;
    for (size_t i = 0; i < stretches_.size(); ++i) {
      const DurationNs length = stretches_[i].end - stretches_[i].start;
      if (IsBeforeGap(i) && (period == 0 || length < period)) period = length;
    }
    return period;
  }

  // Limits the number of samples. A damaged file may say that one stretch took
  // a nanosecond and another one a year. A real thread spends up to an hour in
  // one stack, and its samples are milliseconds apart.
  DurationNs LeastPeriod() const {
    constexpr size_t kMostSamples = size_t{32} << 20;
    const size_t have = std::min(shard_.samples.size(), kMostSamples - 1);
    const size_t most = std::min(kMostSamples - have,
                                 (size_t{4} << 20) + 1'000 * stretches_.size());
    // Stretches do not overlap, so the sum cannot overflow.
    DurationNs covered = 0;
    for (const Stretch& stretch : stretches_) {
      covered += stretch.end - stretch.start;
    }
    return covered / static_cast<DurationNs>(most) + 1;
  }

  void AddSamples(const Stretch& stretch, bool is_before_gap,
                  DurationNs period) {
    const TimeNs last =
        is_before_gap ? stretch.end - period : stretch.end;  // of samples
    const DurationNs length = last - stretch.start;
    const bool rounds_up = length % period >= period - period / 2;
    const int64_t steps = std::max<int64_t>(length / period + rounds_up, 0);
    TimeNs time = stretch.start;
    for (int64_t i = 1; i <= steps; ++i) {
      const TimeNs next =
          i == steps ? last : stretch.start + length / steps * i;
      AddSample(stretch, time, next);
      time = next;
    }
    if (is_before_gap || steps == 0) AddSample(stretch, time, stretch.end);
  }

  void AddSample(const Stretch& stretch, TimeNs time, TimeNs next) {
    shard_.samples.push_back({.track = track_,
                              .stack = stretch.stack,
                              .time_ns = time,
                              .weight_ns = next - time});
  }

  std::vector<Range> slices_;
  const model::TrackIndex track_;
  model::TraceShard& shard_;
  std::vector<Stretch> stretches_;
};

}  // namespace

void AddFlameSamples(std::vector<Range> slices, model::TrackIndex track,
                     model::TraceShard& shard) {
  Sampler(std::move(slices), track, shard).Run();
}

}  // namespace kymo::chrome_import
