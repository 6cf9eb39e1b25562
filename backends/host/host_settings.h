// host_settings.h - what the user may choose about counters of the host.
//
//   KYMO_ASSIGN_OR_RETURN(const HostSettings settings,
//                         HostTable().Read(options.settings));
#ifndef KYMO_BACKENDS_HOST_HOST_SETTINGS_H_
#define KYMO_BACKENDS_HOST_HOST_SETTINGS_H_

#include <cstdint>

#include "profiler/plugin/settings.h"

namespace kymo::host {

struct HostSettings {
  int64_t period_ms = 100;
  bool cores = true;
  int64_t processes = 64;
  uint64_t buffer_bytes = uint64_t{256} << 20;
};

// The settings as they are declared; the defaults are those of HostSettings.
SettingTable<HostSettings> HostTable();

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_HOST_SETTINGS_H_
