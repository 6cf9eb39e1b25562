// test_row.h - an average as a text with everything that it says.
//
//   EXPECT_EQ(Row(average), "mm x2 cpu=3.5/3.5 mem=64/64 flops=30 parent=0");
#ifndef KYMO_PROFILER_EVENTS_AVERAGES_TEST_ROW_H_
#define KYMO_PROFILER_EVENTS_AVERAGES_TEST_ROW_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/events/averages/function_event_avg.h"

namespace kymo {

// "name xCOUNT cpu=TOTAL/SELF ...": what is 0, empty or not set is left out.
inline std::string Row(const FunctionEventAvg& a) {
  std::string text = absl::StrCat(a.has_key ? a.key : "NO KEY", " x", a.count);
  const auto add = [&](const char* name, const auto& total, const auto& self) {
    if (total != 0 || self != 0) {
      absl::StrAppend(&text, " ", name, "=", total, "/", self);
    }
  };
  add("cpu", a.cpu_time_total, a.self_cpu_time_total);
  add("device", a.device_time_total, a.self_device_time_total);
  add("mem", a.cpu_memory_usage, a.self_cpu_memory_usage);
  add("device_mem", a.device_memory_usage, a.self_device_memory_usage);
  if (a.flops != 0) absl::StrAppend(&text, " flops=", a.flops);
  if (!a.overload_name.empty()) absl::StrAppend(&text, " .", a.overload_name);
  if (!a.input_shapes.empty()) absl::StrAppend(&text, " ", a.input_shapes);
  if (!a.stack.empty()) {
    absl::StrAppend(&text, " in ", absl::StrJoin(a.stack, ";"));
  }
  if (a.node_id != -1) absl::StrAppend(&text, " node=", a.node_id);
  if (a.device_type != DeviceType::kCpu) absl::StrAppend(&text, " on device");
  if (a.cpu_parent) absl::StrAppend(&text, " parent=", *a.cpu_parent);
  if (a.is_async) absl::StrAppend(&text, " async");
  if (a.is_user_annotation) absl::StrAppend(&text, " annotation");
  if (a.scope != RecordScope::kFunction) absl::StrAppend(&text, " scoped");
  if (a.use_device) absl::StrAppend(&text, " ", *a.use_device);
  return text;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_AVERAGES_TEST_ROW_H_
