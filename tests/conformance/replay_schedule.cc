#include "tests/conformance/replay_schedule.h"

#include <simdjson.h>

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/session/schedule.h"
#include "profiler/text/json_writer.h"

namespace kymo::conformance {
namespace {

constexpr int64_t kTableSteps = 24;
// The run that the reference data tells of.
constexpr std::string_view kRun =
    "wait=1,warmup=1,active=2,repeat=2,skip_first=1";
constexpr int64_t kRunSteps = 16;

absl::Status AppendActions(std::string_view schedule_text, int64_t steps,
                           json::JsonWriter& out) {
  KYMO_ASSIGN_OR_RETURN(const ScheduleOptions options,
                        ParseSchedule(schedule_text));
  KYMO_ASSIGN_OR_RETURN(const Schedule schedule, MakeSchedule(options));
  out.BeginArray();
  for (int64_t step = 0; step < steps; ++step) {
    out.String(ProfilerActionName(schedule({.step = step})));
  }
  out.EndArray();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Files> ReplaySchedule(const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::object tables;
  if (const auto error = parser.parse(json)["tables"].get(tables)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tables of schedule.json: ", simdjson::error_message(error)));
  }
  std::string text;
  json::JsonWriter out(text);
  out.BeginObject();
  out.Key("actions");
  KYMO_RETURN_IF_ERROR(AppendActions(kRun, kRunSteps, out));
  out.Key("tables");
  out.BeginObject();
  for (const auto& [name, actions] : tables) {
    out.Key(name);
    KYMO_RETURN_IF_ERROR(AppendActions(name, kTableSteps, out));
  }
  out.EndObject();
  out.EndObject();
  return Files{{"schedule.json", text}};
}

}  // namespace kymo::conformance
