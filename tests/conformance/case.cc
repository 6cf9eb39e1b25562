#include "tests/conformance/case.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::conformance {
namespace {

using simdjson::dom::element;

// A member's value; null if it is missing or null.
std::optional<element> Find(element object, const char* key) {
  element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  if (value.is_null()) return std::nullopt;
  return value;
}

// The value, if it is of that type.
template <typename T>
std::optional<T> As(element value) {
  T result;
  if (value.get(result) != simdjson::SUCCESS) return std::nullopt;
  return result;
}

template <typename T>
std::optional<T> Get(element object, const char* key) {
  const auto value = Find(object, key);
  return value ? As<T>(*value) : std::nullopt;
}

int64_t Int(element object, const char* key, int64_t otherwise) {
  return Get<int64_t>(object, key).value_or(otherwise);
}

double Double(element object, const char* key) {
  return Get<double>(object, key).value_or(0);
}

bool Bool(element object, const char* key) {
  return Get<bool>(object, key).value_or(false);
}

std::optional<std::string> OptionalText(element object, const char* key) {
  const auto text = Get<std::string_view>(object, key);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

// The members of a list, none if it is none.
std::vector<element> List(std::optional<element> value) {
  simdjson::dom::array array;
  if (!value || value->get(array) != simdjson::SUCCESS) return {};
  return {array.begin(), array.end()};
}

std::shared_ptr<const InputShapes> Shapes(element event) {
  const auto list = Find(event, "input_shapes");
  if (!list) return nullptr;
  auto shapes = std::make_shared<InputShapes>();
  for (const element shape : List(list)) {
    std::vector<int64_t>& sizes = shapes->emplace_back();
    for (const element size : List(shape))
      sizes.push_back(As<int64_t>(size).value_or(0));
  }
  return shapes;
}

std::vector<std::string> Texts(std::optional<element> list) {
  std::vector<std::string> texts;
  for (const element entry : List(list)) {
    texts.emplace_back(As<std::string_view>(entry).value_or(""));
  }
  return texts;
}

std::shared_ptr<const EventStack> Stack(element event) {
  const auto list = Find(event, "stack");
  return list ? std::make_shared<const EventStack>(Texts(list)) : nullptr;
}

std::vector<Kernel> Kernels(element event) {
  std::vector<Kernel> kernels;
  for (const element kernel : List(Find(event, "kernels"))) {
    kernels.push_back({OptionalText(kernel, "name").value_or(""),
                       Int(kernel, "device", 0), Double(kernel, "duration")});
  }
  return kernels;
}

absl::StatusOr<FunctionEvent> ReadEvent(element json) {
  FunctionEvent e;
  e.id = Int(json, "id", 0);
  e.name = OptionalText(json, "name").value_or("");
  e.overload_name = OptionalText(json, "overload_name");
  e.trace_name = OptionalText(json, "trace_name");
  e.time_range = {Double(json, "start_us"), Double(json, "end_us")};
  e.thread = Int(json, "thread", 0);
  e.fwd_thread = Get<int64_t>(json, "fwd_thread");
  e.node_id = static_cast<int32_t>(Int(json, "node_id", -1));
  e.scope = static_cast<RecordScope>(Int(json, "scope", 0));
  e.is_async = Bool(json, "is_async");
  e.is_remote = Bool(json, "is_remote");
  e.is_legacy = Bool(json, "is_legacy");
  e.is_user_annotation = Bool(json, "is_user_annotation");
  e.is_python_function = Bool(json, "is_python_function");
  e.count = Int(json, "count", 1);
  e.sequence_nr = Int(json, "sequence_nr", -1);
  e.device_index = Int(json, "device_index", 0);
  e.use_device = OptionalText(json, "use_device");
  e.cpu_memory_usage = Int(json, "cpu_memory_usage", 0);
  e.device_memory_usage = Int(json, "device_memory_usage", 0);
  e.flops = Get<int64_t>(json, "flops");
  e.kernels = Kernels(json);
  e.input_shapes = Shapes(json);
  e.stack = Stack(json);
  EventDetails details;
  details.concrete_inputs = Texts(Find(json, "concrete_inputs"));
  e.details = std::make_shared<const EventDetails>(std::move(details));

  const std::string type = OptionalText(json, "device_type").value_or("CPU");
  const std::optional<DeviceType> device = DeviceTypeFromName(type);
  if (!device) {
    return absl::InvalidArgumentError(
        absl::StrCat("event ", e.id, ": no device type '", type, "'"));
  }
  e.device_type = *device;
  return e;
}

absl::StatusOr<std::vector<FunctionEvent>> ReadEvents(element list) {
  std::vector<FunctionEvent> events;
  for (const element json : List(list)) {
    KYMO_ASSIGN_OR_RETURN(FunctionEvent event, ReadEvent(json));
    events.push_back(std::move(event));
  }
  return events;
}

EventListOptions ReadOptions(element file) {
  const auto json = Find(file, "options");
  if (!json) return {};
  return {.use_device = OptionalText(*json, "use_device"),
          .profile_memory = Bool(*json, "profile_memory"),
          .with_flops = Bool(*json, "with_flops")};
}

absl::Status Broken(simdjson::error_code error, const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", simdjson::error_message(error)));
}

}  // namespace

absl::StatusOr<Case> ReadSyntheticCase(const std::string& json) {
  simdjson::dom::parser parser;
  element file, list;
  if (const auto error = parser.parse(json).get(file)) {
    return Broken(error, "input.json");
  }
  if (const auto error = file["input_events"].get(list)) {
    return Broken(error, "input_events of input.json");
  }
  const EventListOptions options = ReadOptions(file);
  KYMO_ASSIGN_OR_RETURN(std::vector<FunctionEvent> events, ReadEvents(list));
  for (FunctionEvent& event : events) event.use_device = options.use_device;
  std::ranges::stable_sort(events, {}, [](const FunctionEvent& e) {
    return std::pair(e.time_range.start_us, -e.time_range.end_us);
  });
  return Case{.events = EventList(std::move(events), options)};
}

absl::StatusOr<Case> ReadRealCase(const std::string& json) {
  simdjson::dom::parser parser;
  element file, list;
  if (const auto error = parser.parse(json).get(file)) {
    return Broken(error, "events.json");
  }
  if (const auto error = file["events"].get(list)) {
    return Broken(error, "events of events.json");
  }
  KYMO_ASSIGN_OR_RETURN(std::vector<FunctionEvent> events, ReadEvents(list));
  for (FunctionEvent& event : events) event.is_python_function |= event.id == 0;
  EventListOptions options = ReadOptions(file);
  if (!options.use_device && !events.empty()) {
    options.use_device = events.front().use_device;
  }
  Case c{.events = EventList(std::move(events), std::move(options))};
  c.torch = OptionalText(file, "torch").value_or("");
  const auto raw_options = Find(file, "options");
  c.options = raw_options ? simdjson::minify(*raw_options) : "{}";
  return c;
}

}  // namespace kymo::conformance
