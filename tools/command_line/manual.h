// manual.h - the parts of a command's manual page.
//
//   std::string page = "NAME\n    report - ...\n";
//   AppendWrapped(page, "A paragraph that ...", 4);
//   AppendFlags(page, kOwnFlags);
#ifndef KYMO_TOOLS_COMMAND_LINE_MANUAL_H_
#define KYMO_TOOLS_COMMAND_LINE_MANUAL_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "profiler/plugin/plugin_info.h"
#include "tools/command_line/flag_words.h"

namespace kymo::tools {

// A paragraph, indented and wrapped at 78 columns.
void AppendWrapped(std::string& page, std::string_view text, size_t indent);

// Each flag with its help.
void AppendFlags(std::string& page, std::span<const OwnFlag> flags);

// What a plugin is and which flags it brings.
void AppendPlugin(std::string& page, const PluginInfo& info);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_MANUAL_H_
