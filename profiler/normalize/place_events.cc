#include "profiler/normalize/place_events.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "profiler/base/parallel.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/normalize/recorded_nesting.h"

namespace kymo::normalize {
namespace {

using model::EventIndex;
using model::TrackIndex;

class Placer {
 public:
  Placer(const std::vector<TrackEventsInput>& inputs, model::EventBlock* block,
         model::TraceData& data)
      : inputs_(inputs), block_(block), data_(data) {}

  // See the header: first the fast way for tracks with recorded depth, then the
  // lanes for those whose times contradict their depths.
  std::vector<TrackIndex> Run() {
    for (size_t t = 0; t < inputs_.size(); ++t) {
      if (inputs_[t].sources.size() == 1 &&
          !inputs_[t].sources[0].depth.empty()) {
        recorded_.push_back(t);
      } else {
        by_lanes_.push_back(t);
      }
    }
    lanes_.resize(inputs_.size());
    NestByLanes(by_lanes_);
    bool is_adopted = AdoptBlock();
    Place();
    for (std::vector<size_t> failed = NestRecorded(); !failed.empty();
         failed = NestRecorded()) {
      // The next pass reads the events from the columns: give these back to the
      // block.
      if (std::exchange(is_adopted, false)) SwapColumns();
      std::erase_if(recorded_, [&](size_t t) {
        return std::binary_search(failed.begin(), failed.end(), t);
      });
      NestByLanes(failed);
      by_lanes_.insert(by_lanes_.end(), failed.begin(), failed.end());
      Place();
    }
    CopyLanes();
    return std::move(first_lane_);
  }

 private:
  // Makes the block's columns the trace's, if the block holds all events in
  // order. The sources stay views of these columns.
  bool AdoptBlock() {
    if (block_ == nullptr || block_->depth.empty()) return false;
    size_t rows = 0;
    for (const TrackEventsInput& input : inputs_) {
      if (input.sources.empty()) continue;
      if (input.sources.size() != 1 ||
          input.sources[0].start_ns.data() != block_->start_ns.data() + rows) {
        return false;
      }
      rows += input.sources[0].size();
    }
    if (rows != block_->size()) return false;
    SwapColumns();
    return true;
  }

  void SwapColumns() {
    data_.start.swap(block_->start_ns);
    data_.end.swap(block_->end_ns);
    data_.name.swap(block_->name);
    data_.type.swap(block_->type);
    data_.scope.swap(block_->scope);
    data_.flags.swap(block_->flags);
  }

  void NestByLanes(const std::vector<size_t>& tracks) {
    std::vector<model::LossLedger> ledgers(tracks.size());
    ParallelForEach(tracks.size(), [&](size_t i) {
      const size_t t = tracks[i];
      lanes_[t] =
          inputs_[t].sources.empty()
              ? std::vector<Lane>(1)
              : NestTrack(inputs_[t].sources, inputs_[t].window, ledgers[i]);
    });
    for (const model::LossLedger& ledger : ledgers) {
      data_.ledger.Merge(ledger);
    }
  }

  // Makes the tracks, lanes included, and room for their events.
  void Place() {
    data_.tracks.clear();
    data_.track_begin = {0};
    first_lane_.resize(inputs_.size());
    size_t total = 0;
    const auto add = [&](size_t t, size_t rows) {
      data_.tracks.push_back(inputs_[t].track);
      total += rows;
      data_.track_begin.push_back(static_cast<EventIndex>(total));
    };
    for (size_t t = 0; t < inputs_.size(); ++t) {
      first_lane_[t] = static_cast<TrackIndex>(data_.tracks.size());
      if (lanes_[t].empty()) add(t, inputs_[t].sources[0].size());
      for (const Lane& lane : lanes_[t]) add(t, lane.size());
    }
    data_.start.resize(total);
    data_.end.resize(total);
    data_.name.resize(total);
    data_.track.resize(total);
    data_.parent.resize(total);
    data_.detail.resize(total);
    data_.type.resize(total);
    data_.scope.resize(total);
    data_.flags.resize(total);
  }

  // Returns the tracks whose times contradict their depths, ascending.
  std::vector<size_t> NestRecorded() {
    std::vector<RecordedNesting> nestings;
    std::vector<std::pair<size_t, size_t>> segments;  // (nesting, segment)
    for (const size_t t : recorded_) {
      nestings.emplace_back(
          inputs_[t].sources[0], inputs_[t].window,
          TrackRows{.data = &data_,
                    .track = first_lane_[t],
                    .first = data_.track_begin[first_lane_[t]]});
      for (size_t i = 0; i < nestings.back().segment_count(); ++i) {
        segments.emplace_back(nestings.size() - 1, i);
      }
    }
    ParallelForEach(segments.size(), [&](size_t i) {
      nestings[segments[i].first].Copy(segments[i].second);
    });
    std::vector<uint8_t> joined(nestings.size());
    ParallelForEach(nestings.size(),
                    [&](size_t i) { joined[i] = nestings[i].Join(); });
    std::vector<size_t> failed;
    for (size_t i = 0; i < nestings.size(); ++i) {
      if (!joined[i]) failed.push_back(recorded_[i]);
    }
    if (!failed.empty()) return failed;
    ParallelForEach(segments.size(), [&](size_t i) {
      nestings[segments[i].first].Finish(segments[i].second);
    });
    for (const RecordedNesting& nesting : nestings) {
      nesting.AddLosses(data_.ledger);
    }
    return failed;
  }

  void CopyLanes() {
    ParallelForEach(by_lanes_.size(), [&](size_t i) {
      TrackIndex track = first_lane_[by_lanes_[i]];
      for (const Lane& lane : lanes_[by_lanes_[i]]) CopyLane(lane, track++);
    });
    lanes_.clear();
  }

  void CopyLane(const Lane& lane, TrackIndex track) {
    const size_t first = data_.track_begin[track];
    const auto copy = [first](const auto& from, auto& to) {
      std::copy(from.begin(), from.end(), to.begin() + first);
    };
    copy(lane.start, data_.start);
    copy(lane.end, data_.end);
    copy(lane.name, data_.name);
    copy(lane.detail, data_.detail);
    copy(lane.type, data_.type);
    copy(lane.scope, data_.scope);
    copy(lane.flags, data_.flags);
    for (size_t row = 0; row < lane.size(); ++row) {
      const EventIndex parent = lane.parent[row];
      data_.track[first + row] = track;
      data_.parent[first + row] = parent == model::kNoEvent
                                      ? model::kNoEvent
                                      : static_cast<EventIndex>(first + parent);
    }
  }

  const std::vector<TrackEventsInput>& inputs_;
  model::EventBlock* const block_;
  model::TraceData& data_;
  std::vector<size_t> recorded_;  // inputs nested by their depths, ascending
  std::vector<size_t> by_lanes_;  // the others
  std::vector<std::vector<Lane>> lanes_;  // none for recorded ones
  std::vector<TrackIndex> first_lane_;    // by input
};

}  // namespace

std::vector<TrackIndex> PlaceEvents(const std::vector<TrackEventsInput>& inputs,
                                    model::EventBlock* block,
                                    model::TraceData& data) {
  return Placer(inputs, block, data).Run();
}

}  // namespace kymo::normalize
