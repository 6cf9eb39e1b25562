// plugin_info.h - describes a plugin: its name, purpose and settings.
//
//   const kymo::PluginInfo info = {
//       .name = "csv",
//       .purpose = "a line of text for each range (events.csv)",
//       .settings = CsvTable().infos(),   // settings.h shows CsvTable()
//   };
//
// --help and --list show it, and settings are checked against it.
//
// Threads: a value.
#ifndef KYMO_PROFILER_PLUGIN_PLUGIN_INFO_H_
#define KYMO_PROFILER_PLUGIN_PLUGIN_INFO_H_

#include <string>
#include <vector>

#include "profiler/plugin/settings.h"

namespace kymo {

enum class Maturity { kStable, kExperimental };

struct PluginInfo {
  std::string name;     // unique, stable, lower_snake
  std::string purpose;  // one line, for --help and --list
  Maturity maturity = Maturity::kStable;
  std::vector<SettingInfo> settings = {};  // of a SettingTable (settings.h)
  // For a backend that records a device: the name of the device, lower_snake.
  // Programs choose it with ProfileOptions::use_device, and tables show it in
  // upper case. "cuda", "xpu", "mtia" and "hpu" are PyTorch's devices. Any
  // other name, such as "npu", is a custom device, PyTorch's PrivateUse1.
  // Several backends may name one device; sessions use the first that is
  // available, by the names of the backends. Empty: the backend records no
  // device.
  std::string device = {};
  // For a backend: a recording whose user names no activity leaves it out.
  bool on_request = false;
  // For an exporter: whether its files are timelines. A timeline that gets too
  // large may be split in time (split_export.h).
  bool splits_by_step = false;
  // For an exporter: whether it obeys ExportOptions::max_bytes.
  bool takes_max_bytes = false;
  // For an exporter: whether it compares a trace with ExportOptions::before.
  bool compares = false;
  // For an exporter: whether it can write files of a recording that is larger
  // than memory (TraceExporter::ExportSums).
  bool exports_sums = false;
  // For an exporter: the names of its files in the output folder, also of those
  // that it writes for some traces or options only. A command that records does
  // not replace such a file if the user made it. Names that differ from trace
  // to trace need not be here.
  std::vector<std::string> files = {};
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_PLUGIN_INFO_H_
