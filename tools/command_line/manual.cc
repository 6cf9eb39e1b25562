#include "tools/command_line/manual.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "profiler/base/strings.h"

namespace kymo::tools {
namespace {

void AppendSetting(std::string& page, const SettingInfo& setting,
                   size_t indent) {
  page.append(indent, ' ');
  absl::StrAppend(&page, "--", setting.name,
                  setting.is_switch() ? "" : "=" + setting.hint, "\n");
  AppendWrapped(page, SettingText(setting), indent + 4);
}

std::vector<const PluginInfo*> PluginsOf(const Manual& manual) {
  std::vector<const PluginInfo*> plugins;
  for (const PluginGroup& group : manual.groups) {
    plugins.insert(plugins.end(), group.plugins.begin(), group.plugins.end());
  }
  return plugins;
}

std::set<std::string> TopicsOf(const Manual& manual) {
  std::set<std::string> topics;
  for (const SettingInfo& flag : manual.own) topics.insert(flag.topic);
  for (const PluginInfo* const plugin : PluginsOf(manual)) {
    topics.insert(plugin->name);
    for (const SettingInfo& setting : plugin->settings) {
      topics.insert(setting.topic);
    }
  }
  return topics;
}

// The flags of a plugin that belong to one topic.
void AppendSettingsOf(std::string& page, const PluginInfo& info,
                      std::string_view topic) {
  for (const SettingInfo& setting : info.settings) {
    if (setting.has_flag && setting.topic == topic) {
      AppendSetting(page, setting, 8);
    }
  }
}

// NAME, SYNOPSIS and, if it is wanted, DESCRIPTION.
std::string Head(const Manual& manual, bool with_description) {
  const auto indented = [](const std::string& lines) {
    return absl::StrCat(
        "    ", absl::StrJoin(absl::StrSplit(lines, '\n'), "\n    "), "\n");
  };
  std::string page = "NAME\n";
  AppendWrapped(page, manual.name, 4);
  absl::StrAppend(&page, "\nSYNOPSIS\n", indented(manual.synopsis));
  if (with_description) {
    page += "\nDESCRIPTION\n";
    for (size_t i = 0; i < manual.description.size(); ++i) {
      if (i > 0) page += '\n';
      AppendWrapped(page, manual.description[i], 4);
    }
  }
  absl::StrAppend(&page, "\nEXAMPLES\n", indented(manual.examples));
  return page;
}

std::string ShortPage(const Manual& manual) {
  std::string page = Head(manual, /*with_description=*/false);
  page += "\nFLAGS\n";
  for (const SettingInfo& flag : manual.own) {
    if (flag.is_common) AppendSetting(page, flag, 4);
  }
  for (const PluginInfo* const plugin : PluginsOf(manual)) {
    for (const SettingInfo& setting : plugin->settings) {
      if (setting.is_common) AppendSetting(page, setting, 4);
    }
  }
  page += "\nMORE\n";
  AppendWrapped(page,
                absl::StrCat("--help=all shows all flags, --help=TOPIC those "
                             "of one topic: ",
                             absl::StrJoin(TopicsOf(manual), ", "), "."),
                4);
  return page;
}

std::string WholePage(const Manual& manual) {
  std::string page = Head(manual, /*with_description=*/true);
  page += "\nFLAGS\n";
  for (const SettingInfo& flag : manual.own) AppendSetting(page, flag, 4);
  page += manual.analyses;
  for (const PluginGroup& group : manual.groups) {
    absl::StrAppend(&page, "\n", group.title, "\n");
    for (const PluginInfo* const plugin : group.plugins) {
      AppendPlugin(page, *plugin);
    }
  }
  return absl::StrCat(page, manual.end, kDocumentationSection);
}

std::string TopicPage(const Manual& manual, std::string_view topic) {
  std::string page;
  for (const SettingInfo& flag : manual.own) {
    if (flag.topic == topic) AppendSetting(page, flag, 4);
  }
  for (const PluginInfo* const plugin : PluginsOf(manual)) {
    if (plugin->name == topic) {
      AppendPlugin(page, *plugin);
      continue;
    }
    for (const SettingInfo& setting : plugin->settings) {
      if (setting.topic == topic && setting.has_flag) {
        AppendSetting(page, setting, 4);
      }
    }
  }
  return page;
}

}  // namespace

absl::StatusOr<std::string> ManualPage(const Manual& manual,
                                       std::string_view topic) {
  if (topic.empty()) return ShortPage(manual);
  if (topic == "all") return WholePage(manual);
  const std::set<std::string> topics = TopicsOf(manual);
  if (topics.contains(std::string(topic))) return TopicPage(manual, topic);
  return absl::InvalidArgumentError(
      absl::StrCat("--help has no topic '", ToAbsl(topic),
                   "'; it is one of: all, ", absl::StrJoin(topics, ", ")));
}

std::string SettingText(const SettingInfo& setting) {
  std::string text = setting.purpose;
  if (setting.is_switch()) {
    if (setting.default_value == "1") {
      absl::StrAppend(&text, " On by default: --no", setting.name,
                      " switches it off.");
    }
  } else {
    if (!setting.takes.empty()) {
      absl::StrAppend(&text, " It takes ", setting.takes, ".");
    }
    if (!setting.default_value.empty()) {
      absl::StrAppend(&text, " Default: ", setting.default_value, ".");
    }
  }
  return text;
}

std::string PurposeText(const PluginInfo& info) {
  return info.purpose +
         (info.maturity == Maturity::kStable ? "." : " (experimental).");
}

void AppendWrapped(std::string& page, std::string_view text, size_t indent) {
  constexpr size_t kColumns = 78;
  size_t column = 0;
  for (const absl::string_view word :
       absl::StrSplit(ToAbsl(text), ' ', absl::SkipEmpty())) {
    if (column != 0 && column + 1 + word.size() > kColumns) {
      page += '\n';
      column = 0;
    }
    if (column == 0) {
      page.append(indent, ' ');
      column = indent;
    } else {
      page += ' ';
      ++column;
    }
    absl::StrAppend(&page, word);
    column += word.size();
  }
  page += '\n';
}

void AppendPlugin(std::string& page, const PluginInfo& info) {
  absl::StrAppend(&page, "    ", info.name, "\n");
  AppendWrapped(page, PurposeText(info), 8);
  std::set<std::string> shown = {info.name};
  AppendSettingsOf(page, info, info.name);
  for (const SettingInfo& setting : info.settings) {
    if (!setting.has_flag || !shown.insert(setting.topic).second) continue;
    absl::StrAppend(&page, "    ", setting.topic, "\n");
    AppendWrapped(page, absl::StrCat("Further flags of ", info.name, "."), 8);
    AppendSettingsOf(page, info, setting.topic);
  }
}

}  // namespace kymo::tools
