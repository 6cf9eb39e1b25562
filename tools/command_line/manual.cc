#include "tools/command_line/manual.h"

#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/base/strings.h"

namespace kymo::tools {

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

void AppendFlags(std::string& page, std::span<const OwnFlag> flags) {
  for (const OwnFlag& flag : flags) {
    absl::StrAppend(&page, "    --", flag.name, flag.value ? "=" : "",
                    flag.value ? flag.value : "", "\n");
    AppendWrapped(page, absl::FindCommandLineFlag(flag.name)->Help(), 8);
  }
}

void AppendPlugin(std::string& page, const PluginInfo& info) {
  absl::StrAppend(&page, "    ", info.name, "\n");
  AppendWrapped(
      page,
      info.purpose +
          (info.maturity == Maturity::kStable ? "." : " (experimental)."),
      8);
  for (const PluginOption& option : info.options) {
    absl::StrAppend(&page, "        --", option.name, " (",
                    option.default_value, ")\n");
    AppendWrapped(page, option.purpose, 12);
  }
  for (const PluginPart& part : info.parts) {
    absl::StrAppend(&page, "    ", part.name, "\n");
    AppendWrapped(page,
                  absl::StrCat(part.purpose, "; part of ", info.name, "."), 8);
  }
}

}  // namespace kymo::tools
