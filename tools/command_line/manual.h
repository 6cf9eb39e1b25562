// manual.h - what a command's --help prints.
//
//   Manual manual;
//   manual.name = "report - tables of traces";
//   manual.own = ReportFlags();
//   manual.groups = {{"EXPORTERS", {&exporter->info()}}};
//   KYMO_ASSIGN_OR_RETURN(const std::string page, ManualPage(manual, topic));
//
// --help shows the flags that most people need, with examples. --help=all shows
// everything, --help=TOPIC the flags of one plugin or of one topic.
#ifndef KYMO_TOOLS_COMMAND_LINE_MANUAL_H_
#define KYMO_TOOLS_COMMAND_LINE_MANUAL_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/settings.h"

namespace kymo::tools {

struct PluginGroup {
  std::string title;  // "EXPORTERS"
  std::vector<const PluginInfo*> plugins;
};

struct Manual {
  std::string name;                      // "report - what it does"
  std::string synopsis;                  // lines, not indented
  std::vector<std::string> description;  // paragraphs
  std::string examples;                  // lines, not indented
  std::span<const SettingInfo> own;
  // A section that stands before the plugins; may be empty.
  std::string analyses;
  std::vector<PluginGroup> groups;
  std::string end;  // the last sections
};

// The page of a topic; empty: the short one; "all": the whole. kInvalidArgument
// for what is no topic lists those that are.
absl::StatusOr<std::string> ManualPage(const Manual& manual,
                                       std::string_view topic);

// A paragraph, indented and wrapped at 78 columns.
void AppendWrapped(std::string& page, std::string_view text, size_t indent);

// What a plugin is and which flags it brings.
void AppendPlugin(std::string& page, const PluginInfo& info);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_MANUAL_H_
