// plugin_info.h - what every plugin says of itself.
#ifndef KYMO_PROFILER_PLUGIN_PLUGIN_INFO_H_
#define KYMO_PROFILER_PLUGIN_PLUGIN_INFO_H_

#include <string>
#include <vector>

namespace kymo {

enum class Maturity { kStable, kExperimental };

// One setting that a plugin reads from the session's or export's options.
struct PluginOption {
  std::string name;  // lower_snake, as on the command line
  std::string default_value;
  std::string purpose;  // one line
};

// Part of what a backend records, with a word of its own for --activities.
struct PluginPart {
  std::string name;     // lower_snake, unlike any plugin's
  std::string purpose;  // one line
  std::string option;   // 1 where it is asked for; see activities.h
};

struct PluginInfo {
  std::string name;     // unique, stable, lower_snake
  std::string purpose;  // one line, from which --help and --list are made
  Maturity maturity = Maturity::kStable;
  std::vector<PluginOption> options;
  // Of a backend that has parts: they can be asked for without the rest of it,
  // which is then switched off by this option.
  std::vector<PluginPart> parts;
  std::string rest_option;
  // Of an exporter: its files are timelines, which may be split in time where
  // they get too large (split_export.h).
  bool splits_by_step = false;
  // Of an exporter: it has files for a recording that is larger than memory
  // (TraceExporter::ExportSums).
  bool exports_sums = false;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_PLUGIN_INFO_H_
