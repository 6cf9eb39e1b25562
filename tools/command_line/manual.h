// manual.h - writes the page that a command's --help prints.
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

// The section that stands behind these: where the guides are.
inline constexpr char kDocumentationSection[] =
    "\nDOCUMENTATION\n"
    "    Guides, such as docs/report.md, are in the sources of Kymo. Packages "
    "have\n"
    "    them in share/doc/kymo/docs, beside the bin that kymo is in.\n";

// The page of a topic. Empty: the short page; "all": the whole. For an unknown
// topic, kInvalidArgument lists the known ones.
absl::StatusOr<std::string> ManualPage(const Manual& manual,
                                       std::string_view topic);

// A flag's purpose, what it takes and its default, as one paragraph.
std::string SettingText(const SettingInfo& setting);

// A plugin's purpose, as a sentence.
std::string PurposeText(const PluginInfo& info);

// A paragraph, indented and wrapped at 78 columns.
void AppendWrapped(std::string& page, std::string_view text, size_t indent);

// Appends a plugin's purpose and its flags.
void AppendPlugin(std::string& page, const PluginInfo& info);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_MANUAL_H_
