#include "tools/report_command/event_filter.h"

#include <regex.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/steps.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/lanes.h"
#include "profiler/model/trace_slice.h"

namespace kymo::tools {
namespace {

using model::EventIndex;
using model::Trace;
using model::Track;
using model::TrackIndex;

class Regex {
 public:
  Regex() = default;
  ~Regex() {
    if (compiled_) regfree(&regex_);
  }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  absl::Status Compile(const std::string& pattern) {
    const int error =
        regcomp(&regex_, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    compiled_ = error == 0;
    if (compiled_) return absl::OkStatus();
    char why[128];
    regerror(error, &regex_, why, sizeof(why));
    return absl::InvalidArgumentError(absl::StrCat(
        "--name: '", pattern, "' is not a regular expression: ", why));
  }

  bool Fits(std::string_view text) const {
    regmatch_t range = {.rm_so = 0,
                        .rm_eo = static_cast<regoff_t>(text.size())};
    return regexec(&regex_, text.data(), 1, &range, REG_STARTEND) == 0;
  }

 private:
  regex_t regex_ = {};
  bool compiled_ = false;
};

// The name that files show for a stream that has no name of its own.
std::string NameOf(const Trace& trace, const Track& track) {
  const std::string_view name = trace.Name(track.name);
  if (name.empty() && track.kind == model::TrackKind::kStream) {
    return absl::StrCat("stream ", track.id);
  }
  return std::string(name);
}

// Whether `word` means the track.
bool Means(const Trace& trace, const std::string& word, const Track& track) {
  const size_t slash = word.find('/');
  int64_t pid = track.pid;
  int64_t id = 0;
  if (slash != word.npos && absl::SimpleAtoi(word.substr(0, slash), &pid) &&
      absl::SimpleAtoi(word.substr(slash + 1), &id)) {
    return pid == track.pid && id == track.id;
  }
  if (absl::SimpleAtoi(word, &id)) return id == track.id;
  return word == NameOf(trace, track);
}

std::string TrackList(const Trace& trace) {
  constexpr size_t kMost = 20;
  std::vector<std::string> words;
  size_t count = 0;
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const Track& track = trace.tracks()[t];
    if (t > 0 && model::IsLaneOf(track, trace.tracks()[t - 1])) continue;
    if (++count > kMost) continue;
    const std::string name = NameOf(trace, track);
    words.push_back(
        absl::StrCat(track.pid, "/", track.id, name.empty() ? "" : " ", name));
  }
  if (count > kMost)
    words.push_back(absl::StrCat("and ", count - kMost, " more"));
  return absl::StrJoin(words, ", ");
}

class Chooser {
 public:
  Chooser(const Trace& trace, const EventFilter& filter)
      : trace_(trace), filter_(filter) {}

  absl::Status Prepare() {
    KYMO_RETURN_IF_ERROR(FindNames());
    FindTypes();
    KYMO_RETURN_IF_ERROR(FindTracks());
    return FindStepWindows();
  }

  std::vector<uint8_t> Events() const {
    const analysis::Launches launches(trace_);
    std::vector<uint8_t> chosen(trace_.event_count());
    for (EventIndex i = 0; i < chosen.size(); ++i) {
      const EventIndex launcher = launches.LauncherOf(i);
      chosen[i] = FitsName(i) &&
                  types_[static_cast<size_t>(trace_.type()[i])] &&
                  KeepsRecord(trace_.track()[i], trace_.start()[i], launcher);
    }
    return chosen;
  }

  // By track: whether the filter's threads have it.
  const std::vector<bool>& tracks() const { return tracks_; }

  // `launcher`: for a record of a device, the call that launched it.
  bool KeepsRecord(TrackIndex track, TimeNs time_ns,
                   EventIndex launcher = model::kNoEvent) const {
    if (!tracks_[track]) return false;
    const DurationNs since_start_ns = time_ns - trace_.start_ns();
    if (filter_.begin_ns && since_start_ns < *filter_.begin_ns) return false;
    if (filter_.end_ns && since_start_ns >= *filter_.end_ns) return false;
    if (!filter_.steps) return true;
    const TimeNs step_time_ns =
        launcher == model::kNoEvent ? time_ns : trace_.start()[launcher];
    return IsInStep(trace_.tracks()[track].pid, step_time_ns);
  }

 private:
  struct Window {
    int64_t pid;
    TimeNs begin_ns;
    TimeNs end_ns;
    bool is_last;  // of its process: the end belongs to it
  };

  absl::Status FindNames() {
    if (filter_.name.empty()) return absl::OkStatus();
    Regex regex;
    KYMO_RETURN_IF_ERROR(regex.Compile(filter_.name));
    for (uint32_t id = 0; id < trace_.strings().size(); ++id) {
      names_.push_back(regex.Fits(trace_.Name(model::NameId{id})));
    }
    return absl::OkStatus();
  }

  bool FitsName(EventIndex event) const {
    return names_.empty() || names_[Index(trace_.name()[event])];
  }

  void FindTypes() {
    types_.assign(static_cast<size_t>(model::ActivityType::kCount),
                  filter_.categories.empty());
    for (const std::string& category : filter_.categories) {
      if (const auto type = model::ParseActivityType(category)) {
        types_[static_cast<size_t>(*type)] = true;
      }
    }
  }

  absl::Status FindTracks() {
    tracks_.assign(trace_.tracks().size(), filter_.threads.empty());
    for (const std::string& word : filter_.threads) {
      bool found = false;
      for (TrackIndex t = 0; t < tracks_.size(); ++t) {
        if (!Means(trace_, word, trace_.tracks()[t])) continue;
        tracks_[t] = found = true;
      }
      if (found) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--thread: the trace has no thread '", word,
                       "'; it has ", TrackList(trace_)));
    }
    return absl::OkStatus();
  }

  absl::Status FindStepWindows() {
    if (!filter_.steps) return absl::OkStatus();
    std::set<int64_t> known;
    for (const analysis::ProcessSteps& process : analysis::FindSteps(trace_)) {
      for (const analysis::Step& step : process.steps) {
        known.insert(step.number);
        if (step.number < filter_.steps->first ||
            step.number > filter_.steps->last) {
          continue;
        }
        windows_.push_back({process.pid, step.begin_ns, step.end_ns,
                            step.event == process.steps.back().event});
      }
    }
    if (!windows_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "--step: the trace has ",
        known.empty() ? "no steps (ranges ProfilerStep#N)"
                      : absl::StrCat("only the steps ", *known.begin(), " to ",
                                     *known.rbegin())));
  }

  bool IsInStep(int64_t pid, TimeNs time_ns) const {
    const auto behind = std::upper_bound(
        windows_.begin(), windows_.end(), std::pair(pid, time_ns),
        [](const auto& wanted, const Window& w) {
          return wanted < std::pair(w.pid, w.begin_ns);
        });
    if (behind == windows_.begin()) return false;
    const Window& window = *std::prev(behind);
    return window.pid == pid && (time_ns < window.end_ns || window.is_last);
  }

  const Trace& trace_;
  const EventFilter& filter_;
  std::vector<bool> names_;      // by name; empty: any
  std::vector<bool> types_;      // by type
  std::vector<bool> tracks_;     // by track
  std::vector<Window> windows_;  // by pid and time
};

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ChooseEvents(const Trace& trace,
                                                  const EventFilter& filter) {
  Chooser chooser(trace, filter);
  KYMO_RETURN_IF_ERROR(chooser.Prepare());
  return chooser.Events();
}

absl::StatusOr<Trace> ChosenTrace(const Trace& trace,
                                  const EventFilter& filter) {
  Chooser chooser(trace, filter);
  KYMO_RETURN_IF_ERROR(chooser.Prepare());
  return model::SelectEvents(trace, chooser.Events(), chooser.tracks(),
                             [&](TrackIndex track, TimeNs time_ns) {
                               return chooser.KeepsRecord(track, time_ns);
                             });
}

absl::StatusOr<std::function<bool(std::string_view)>> NameTest(
    const std::string& expression) {
  const auto regex = std::make_shared<Regex>();
  KYMO_RETURN_IF_ERROR(regex->Compile(expression));
  return [regex](std::string_view name) { return regex->Fits(name); };
}

}  // namespace kymo::tools
