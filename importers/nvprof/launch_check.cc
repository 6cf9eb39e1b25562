#include "importers/nvprof/launch_check.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "importers/nvprof/api_names.h"
#include "profiler/base/strings.h"
#include "profiler/events/enforce_unique.h"

namespace kymo::nvprof {
namespace {

// "duplicate key: (1, 10)", in the words of PyTorch's EnforceUnique.
template <typename... T>
absl::Status Duplicate(const T&... parts) {
  EnforceUnique keys;
  (void)keys.see(parts...);
  return keys.see(parts...);
}

}  // namespace

LaunchCheck::Marker& LaunchCheck::MarkerOf(int64_t id) {
  const auto [it, is_new] = marker_of_id_.try_emplace(id, markers_.size());
  if (is_new) markers_.push_back({.id = id});
  return markers_[it->second];
}

bool LaunchCheck::AddMarkerStart(int64_t id, TimeNs time_ns) {
  Marker& marker = MarkerOf(id);
  if (marker.start_ns.has_value()) {
    Refuse("duplicate_key", Duplicate(id));
    return false;
  }
  marker.start_ns = time_ns;
  return true;
}

bool LaunchCheck::AddMarkerEnd(int64_t id, TimeNs time_ns) {
  Marker& marker = MarkerOf(id);
  if (marker.end_ns.has_value()) {
    Refuse("duplicate_key", Duplicate(id));
    return false;
  }
  marker.end_ns = time_ns;
  return true;
}

void LaunchCheck::AddCall(const RuntimeCall& call) {
  call_of_correlation_.try_emplace(call.correlation, calls_.size());
  calls_.push_back(call);
}

const LaunchCheck::Marker* LaunchCheck::FirstAround(
    const RuntimeCall& call) const {
  const auto it =
      std::find_if(markers_.begin(), markers_.end(), [&](const Marker& marker) {
        return marker.start_ns.has_value() && marker.end_ns.has_value() &&
               *marker.start_ns < call.start_ns && call.end_ns < *marker.end_ns;
      });
  return it == markers_.end() ? nullptr : &*it;
}

void LaunchCheck::Refuse(const char* rule, const absl::Status& status) {
  findings_.Add(sqlite::Severity::kWarning, rule, ToStd(status.message()));
  if (first_.ok()) first_ = status;
}

absl::Status LaunchCheck::Run() {
  // (start, latest end so far) of the complete ranges, by start.
  std::vector<std::pair<TimeNs, TimeNs>> reach;
  for (const Marker& marker : markers_) {
    if (marker.start_ns.has_value() && marker.end_ns.has_value()) {
      reach.emplace_back(*marker.start_ns, *marker.end_ns);
    }
  }
  std::sort(reach.begin(), reach.end());
  for (size_t i = 1; i < reach.size(); ++i) {
    reach[i].second = std::max(reach[i].second, reach[i - 1].second);
  }
  const auto in_a_range = [&](const RuntimeCall& call) {
    const auto after = std::lower_bound(
        reach.begin(), reach.end(),
        std::pair(call.start_ns, std::numeric_limits<TimeNs>::min()));
    return after != reach.begin() && call.end_ns < (after - 1)->second;
  };

  std::vector<bool> has_launched(calls_.size());
  for (const int64_t correlation : kernels_) {
    const auto found = call_of_correlation_.find(correlation);
    if (found == call_of_correlation_.end()) continue;
    const RuntimeCall& call = calls_[found->second];
    if (!in_a_range(call)) continue;
    if (has_launched[found->second]) {
      // A linear search, but only for the one message that is kept.
      const Marker* const marker =
          findings_.Has("duplicate_key") ? nullptr : FirstAround(call);
      Refuse("duplicate_key",
             Duplicate(marker == nullptr ? int64_t{0} : marker->id, call.row));
    }
    has_launched[found->second] = true;
    if (!IsLaunch(call.cbid)) {
      Refuse("launch_cbid",
             absl::InvalidArgumentError(
                 absl::StrCat("Expected cbid to be 211, but got ", call.cbid)));
    }
  }
  return first_;
}

}  // namespace kymo::nvprof
