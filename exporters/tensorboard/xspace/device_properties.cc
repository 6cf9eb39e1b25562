#include "exporters/tensorboard/xspace/device_properties.h"

#include <simdjson.h>

#include <string_view>

#include "exporters/tensorboard/xspace/stat_writer.h"

namespace kymo::tensorboard {
namespace {

using model::Trace;

// The last value counts if the key comes several times.
std::string_view DevicePropertiesJson(const Trace& trace) {
  std::string_view json;
  for (const model::Metadata& pair : trace.metadata()) {
    if (trace.Name(pair.key) == "deviceProperties") {
      json = trace.Name(pair.json_value);
    }
  }
  return json;
}

class Writer {
 public:
  Writer(PlaneIds& ids, std::string& stats)
      : ids_(ids), writer_(stats, StatWriter::kOfPlane) {}

  void AddNumber(const simdjson::dom::object& device, std::string_view member,
                 std::string_view stat) {
    uint64_t number = 0;
    if (device[member].get(number) != simdjson::SUCCESS) return;
    writer_.Uint(Id(stat), number);
  }

  void AddName(const simdjson::dom::object& device) {
    std::string_view name;
    if (device["name"].get(name) != simdjson::SUCCESS) return;
    writer_.String(Id("gpu_device_name"), name);
    // Which is how XProf tells whose rules for peaks hold.
    const bool is_amd = name.find("AMD") != std::string_view::npos;
    writer_.String(Id("device_vendor"), is_amd ? "AMD" : "Nvidia");
  }

 private:
  uint64_t Id(std::string_view stat) { return ids_.Text(ids_.Intern(stat)); }

  PlaneIds& ids_;
  StatWriter writer_;
};

}  // namespace

void AppendDeviceProperties(const Trace& trace, int32_t device, PlaneIds& ids,
                            std::string& stats) {
  static constexpr std::string_view kNumbers[][2] = {
      {"totalGlobalMem", "memory_size"},
      {"computeMajor", "compute_cap_major"},
      {"computeMinor", "compute_cap_minor"},
      {"numSms", "core_count"},
      {"clockRate", "clock_rate"},
      {"memoryBandwidth", "memory_bandwidth"}};
  const simdjson::padded_string json(DevicePropertiesJson(trace));
  simdjson::dom::parser parser;
  simdjson::dom::array devices;
  if (parser.parse(json).get(devices) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element element : devices) {
    simdjson::dom::object properties;
    int64_t id = 0;
    if (element.get(properties) != simdjson::SUCCESS ||
        properties["id"].get(id) != simdjson::SUCCESS || id != device) {
      continue;
    }
    Writer writer(ids, stats);
    writer.AddName(properties);
    for (const auto& [member, stat] : kNumbers) {
      writer.AddNumber(properties, member, stat);
    }
    return;
  }
}

}  // namespace kymo::tensorboard
