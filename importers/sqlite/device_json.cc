#include "importers/sqlite/device_json.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/text/python_text.h"

namespace kymo::sqlite {
namespace {

void AppendMember(std::string& out, std::string_view key,
                  const std::optional<int64_t>& value) {
  if (!value.has_value()) return;
  absl::StrAppend(&out, ", ", PythonJsonString(key), ": ", *value);
}

}  // namespace

std::string DevicePropertiesJson(const std::vector<DeviceProperties>& devices) {
  std::string out = "[";
  for (const DeviceProperties& device : devices) {
    absl::StrAppend(&out, out.size() == 1 ? "" : ", ", "{\"id\": ", device.id);
    if (!device.name.empty()) {
      absl::StrAppend(&out, ", \"name\": ", PythonJsonString(device.name));
    }
    AppendMember(out, "totalGlobalMem", device.memory_bytes);
    AppendMember(out, "computeMajor", device.compute_major);
    AppendMember(out, "computeMinor", device.compute_minor);
    AppendMember(out, "numSms", device.multiprocessors);
    out += '}';
  }
  return out + "]";
}

}  // namespace kymo::sqlite
