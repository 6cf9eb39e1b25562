#include "tests/conformance/event_json.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/text/json_writer.h"
#include "profiler/text/python_text.h"

namespace kymo::conformance {
namespace {

using json::JsonWriter;

void Double(JsonWriter& out, std::string_view key, double value) {
  out.Key(key);
  out.Double(value);
}

void OptionalInt(JsonWriter& out, std::string_view key,
                 const std::optional<int64_t>& value) {
  out.Key(key);
  value ? out.Int(*value) : out.Raw("null");
}

void Texts(JsonWriter& out, std::string_view key,
           const std::vector<std::string>& texts) {
  out.Key(key);
  out.BeginArray();
  for (const std::string& text : texts) out.String(text);
  out.EndArray();
}

// Parents and children are told by id.
void Relatives(JsonWriter& out, const EventList& events,
               const FunctionEvent& e) {
  OptionalInt(
      out, "cpu_parent",
      e.cpu_parent ? std::optional(events[*e.cpu_parent].id) : std::nullopt);
  out.Key("cpu_children");
  out.BeginArray();
  for (const size_t child : e.cpu_children) out.Int(events[child].id);
  out.EndArray();
}

void DerivedValues(JsonWriter& out, const FunctionEvent& e) {
  Double(out, "cpu_time_total", e.cpu_time_total());
  Double(out, "self_cpu_time_total", e.self_cpu_time_total());
  Double(out, "device_time_total", e.device_time_total());
  Double(out, "self_device_time_total", e.self_device_time_total());
  out.Member("self_cpu_memory_usage", e.self_cpu_memory_usage());
  out.Member("self_device_memory_usage", e.self_device_memory_usage());
}

void RawValues(JsonWriter& out, const FunctionEvent& e) {
  out.Member("id", e.id);
  out.Member("name", e.name);
  out.Member("thread", e.thread);
  OptionalInt(out, "fwd_thread", e.fwd_thread);
  Double(out, "start_us", e.time_range.start_us);
  Double(out, "end_us", e.time_range.end_us);
  out.Member("is_async", e.is_async);
  out.Member("is_remote", e.is_remote);
  out.Member("sequence_nr", e.sequence_nr);
  out.Member("scope", static_cast<int64_t>(e.scope));
  out.Key("use_device");
  e.use_device ? out.String(*e.use_device) : out.Raw("null");
  out.Member("device_type", DeviceTypeText(e.device_type));
  out.Member("device_index", e.device_index);
  out.Key("input_shapes");
  out.Raw(e.input_shapes != nullptr ? PythonList(*e.input_shapes) : "null");
  Texts(out, "concrete_inputs", e.details->concrete_inputs);
  if (e.stack != nullptr) {
    Texts(out, "stack", *e.stack);
  } else {
    out.Key("stack");
    out.Raw("null");
  }
  OptionalInt(out, "flops", e.flops);
  out.Member("is_legacy", e.is_legacy);
  out.Member("is_user_annotation", e.is_user_annotation);
  out.Member("count", e.count);
  out.Member("cpu_memory_usage", e.cpu_memory_usage);
  out.Member("device_memory_usage", e.device_memory_usage);
  out.Member("node_id", int64_t{e.node_id});
}

}  // namespace

std::string ExpectedEventsJson(const Case& c) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject();
  Double(out, "self_cpu_time_total", c.events.self_cpu_time_total());
  out.Key("events");
  out.BeginArray();
  for (const FunctionEvent& e : c.events) {
    out.BeginObject();
    out.Member("id", e.id);
    out.Member("name", e.name);
    Relatives(out, c.events, e);
    DerivedValues(out, e);
    out.Member("n_kernels", static_cast<int64_t>(e.kernels.size()));
    Texts(out, "stack", e.stack != nullptr ? *e.stack : EventStack());
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return text;
}

std::string EventsJson(const Case& c) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject();
  out.Member("torch", c.torch);
  out.Key("options");
  out.Raw(c.options);
  Double(out, "self_cpu_time_total_us", c.events.self_cpu_time_total());
  out.Key("events");
  out.BeginArray();
  for (const FunctionEvent& e : c.events) {
    out.BeginObject();
    RawValues(out, e);
    out.Key("derived");
    out.BeginObject();
    Relatives(out, c.events, e);
    DerivedValues(out, e);
    out.Member("key", e.name);
    out.EndObject();
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return text;
}

std::string AveragesJson(const EventAverages& averages) {
  std::string text;
  JsonWriter out(text);
  out.BeginArray();
  for (const FunctionEventAvg& a : averages) {
    out.BeginObject();
    out.Member("key", a.key);
    out.Member("count", a.count);
    Double(out, "cpu_time_total", a.cpu_time_total);
    Double(out, "self_cpu_time_total", a.self_cpu_time_total);
    out.Member("cpu_memory_usage", a.cpu_memory_usage);
    out.Member("self_cpu_memory_usage", a.self_cpu_memory_usage);
    out.Member("flops", a.flops);
    out.Key("input_shapes");
    out.Raw(a.input_shapes.empty()     ? "\"\""
            : a.input_shapes == "None" ? "null"
                                       : a.input_shapes);
    Texts(out, "stack", a.stack);
    out.Member("is_async", a.is_async);
    out.Member("is_user_annotation", a.is_user_annotation);
    out.EndObject();
  }
  out.EndArray();
  return text;
}

std::string RealTotalJson(const FunctionEventAvg& total) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject();
  out.Member("key", total.key);
  out.Member("count", total.count);
  Double(out, "cpu_time_total", total.cpu_time_total);
  Double(out, "self_cpu_time_total", total.self_cpu_time_total);
  out.Member("cpu_memory_usage", total.cpu_memory_usage);
  out.Member("self_cpu_memory_usage", total.self_cpu_memory_usage);
  out.Member("flops", total.flops);
  out.EndObject();
  return text;
}

std::string SyntheticTotalJson(const FunctionEventAvg& total) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject();
  out.Member("count", total.count);
  Double(out, "cpu_time_total", total.cpu_time_total);
  Double(out, "self_cpu_time_total", total.self_cpu_time_total);
  Double(out, "device_time_total", total.device_time_total);
  Double(out, "self_device_time_total", total.self_device_time_total);
  out.Member("cpu_memory_usage", total.cpu_memory_usage);
  out.Member("self_cpu_memory_usage", total.self_cpu_memory_usage);
  out.Member("device_memory_usage", total.device_memory_usage);
  out.Member("self_device_memory_usage", total.self_device_memory_usage);
  out.Member("flops", total.flops);
  out.EndObject();
  return text;
}

}  // namespace kymo::conformance
