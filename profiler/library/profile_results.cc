// profile_results.cc - what a session gives back: its last cycle, or all of
// them where events accumulate.
#include "kymo/profile.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kymo/events.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

absl::Status NoResults() {
  return absl::FailedPreconditionError(
      "Profiler didn't finish running: call Start() and Stop() first");
}

// The results of a profile that is not enabled.
const EventList& NoEvents() {
  static const EventList* const none = [] {
    auto* const list = new EventList;
    list->build_tree().IgnoreError();  // of no events: nothing can be wrong
    return list;
  }();
  return *none;
}

constexpr char kUnfinished[] = "<unfinished torch.autograd.profile>";

}  // namespace

absl::StatusOr<ProfileCycle*> Profile::Last() const {
  if (cycles_.empty()) return NoResults();
  return cycles_.back().get();
}

absl::StatusOr<const EventList*> Profile::Accumulated() {
  if (accumulated_ == nullptr) {
    std::vector<const EventList*> lists;
    for (const auto& cycle : cycles_) {
      KYMO_ASSIGN_OR_RETURN(const EventList* const list, cycle->events());
      lists.push_back(list);
    }
    accumulated_ = std::make_unique<EventList>(EventList::Concatenate(lists));
  }
  return accumulated_.get();
}

const model::Trace* Profile::trace() const noexcept {
  return cycles_.empty() ? nullptr : &cycles_.back()->trace();
}

KeyAverages Profile::key_averages(const KeyAveragesOptions& options) {
  if (!options_.enabled) return KeyAverages(EventAverages());
  if (cycles_.empty()) return KeyAverages(NoResults());
  if (!options_.acc_events || cycles_.size() == 1) {
    return cycles_.back()->key_averages(options);
  }
  const absl::StatusOr<const EventList*> all = Accumulated();
  if (!all.ok()) return KeyAverages(all.status());
  absl::StatusOr<EventAverages> averages = (*all)->key_averages(options);
  return averages.ok() ? KeyAverages(*std::move(averages))
                       : KeyAverages(averages.status());
}

absl::StatusOr<const EventList*> Profile::events() {
  if (!options_.enabled) return &NoEvents();
  KYMO_ASSIGN_OR_RETURN(ProfileCycle* const last, Last());
  if (!options_.acc_events || cycles_.size() == 1) return last->events();
  return Accumulated();
}

absl::StatusOr<FunctionEventAvg> Profile::total_average() {
  KYMO_ASSIGN_OR_RETURN(const EventList* const list, events());
  return list->total_average();
}

absl::StatusOr<double> Profile::self_cpu_time_total() {
  KYMO_ASSIGN_OR_RETURN(const EventList* const list, events());
  return list->self_cpu_time_total();
}

std::string Profile::table(const report::TableOptions& options) {
  const absl::StatusOr<const EventList*> list = events();
  if (!list.ok()) return list.status().ToString();
  const absl::StatusOr<std::string> text = (*list)->table(options);
  return text.ok() ? *text : text.status().ToString();
}

absl::StatusOr<std::vector<analysis::Finding>> Profile::findings() const {
  if (!options_.enabled) return std::vector<analysis::Finding>();
  KYMO_ASSIGN_OR_RETURN(const ProfileCycle* const last, Last());
  return last->findings();
}

absl::Status Profile::export_chrome_trace(const std::string& path) const {
  if (!options_.enabled) return absl::OkStatus();
  KYMO_ASSIGN_OR_RETURN(const ProfileCycle* const last, Last());
  return last->export_chrome_trace(path);
}

absl::Status Profile::export_stacks(const std::string& path,
                                    std::string_view metric) {
  if (!options_.enabled) return absl::OkStatus();
  if (!options_.with_stack) {
    return absl::FailedPreconditionError(
        "export_stacks() requires with_stack = true");
  }
  KYMO_ASSIGN_OR_RETURN(const EventList* const list, events());
  return list->export_stacks(path, metric);
}

absl::Status Profile::export_memory_timeline(const std::string& path,
                                             std::string_view device) const {
  if (!options_.enabled) return absl::OkStatus();
  KYMO_ASSIGN_OR_RETURN(const ProfileCycle* const last, Last());
  return last->export_memory_timeline(path, device);
}

absl::StatusOr<std::vector<std::string>> Profile::Export(
    const std::string& exporter, const std::string& directory,
    const ProfileExportOptions& options) const {
  if (!options_.enabled) return std::vector<std::string>();
  KYMO_ASSIGN_OR_RETURN(const ProfileCycle* const last, Last());
  return last->Export(exporter, directory, options);
}

const ProfilerStats* Profile::stats() const noexcept {
  return cycles_.empty() ? nullptr : &cycles_.back()->stats();
}

std::string ToString(Profile& profile) {
  if (profile.cycles().empty()) return kUnfinished;
  const absl::StatusOr<const EventList*> events = profile.events();
  return events.ok() ? ToString(**events) : events.status().ToString();
}

std::ostream& operator<<(std::ostream& out, Profile& profile) {
  return out << (profile.cycles().empty() ? kUnfinished : profile.table());
}

}  // namespace kymo
