#include "profiler/events/chrome_trace.h"

#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/text/python_text.h"

namespace kymo {
namespace {

std::string ThreadText(const FunctionEvent& event) {
  return event.is_remote ? absl::StrCat("\" node_id:", event.node_id,
                                        ", thread_id:", event.thread, " \"")
                         : absl::StrCat(event.thread);
}

std::string RangeText(const FunctionEvent& event, const std::string& name) {
  return absl::StrCat("{\"name\": ", name, ", \"ph\": \"X\", \"ts\": ",
                      PythonFloat(event.time_range.start_us),
                      ", \"dur\": ", PythonFloat(event.time_range.elapsed_us()),
                      ", \"tid\": ", ThreadText(event),
                      ", \"pid\": \"CPU functions\", \"args\": {}}");
}

std::string FlowText(const FunctionEvent& event, const std::string& name,
                     int64_t id, const std::string& device) {
  return absl::StrCat(
      "{\"name\": ", name,
      ", \"ph\": \"s\", \"ts\": ", PythonFloat(event.time_range.start_us),
      ", \"tid\": ", event.thread, ", \"pid\": \"CPU functions\", \"id\": ", id,
      ", \"cat\": \"cpu_to_", device, "\", \"args\": {}}");
}

}  // namespace

void WriteChromeTrace(std::span<const FunctionEvent> events,
                      const std::optional<std::string>& use_device,
                      std::ostream& out) {
  const std::string device = use_device.value_or("cuda");
  std::string_view separator;
  int64_t next_flow = 0;
  const auto write = [&](const std::string& object) {
    out << separator << object;
    separator = ", ";
  };
  out << '[';
  for (const FunctionEvent& event : events) {
    if (!event.trace_name.has_value()) continue;
    const std::string name = PythonJsonString(*event.trace_name);
    write(RangeText(event, name));
    for (size_t i = 0; i < event.kernels.size(); ++i) {
      write(FlowText(event, name, next_flow++, device));
    }
  }
  out << ']';
}

}  // namespace kymo
