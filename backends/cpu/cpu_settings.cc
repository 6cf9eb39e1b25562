#include "backends/cpu/cpu_settings.h"

namespace kymo::cpu {
namespace {

SettingTable<CpuSettings> CpuTable() {
  return SettingTable<CpuSettings>(
      "cpu", {{.name = "ranges",
               .value = setting::Switch(&CpuSettings::ranges),
               .purpose = "Record what the program says through Kymo.",
               .old_name = "ranges"}});
}

}  // namespace

absl::StatusOr<CpuSettings> ReadCpuSettings(const SessionOptions& options) {
  return CpuTable().Read(options.settings);
}

std::vector<SettingInfo> CpuSettingInfos() { return CpuTable().infos(); }

}  // namespace kymo::cpu
