#include "tools/command_line/manual_files.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/settings.h"
#include "tools/command_line/value_words.h"

namespace kymo::tools {
namespace {

// A line of text. groff would break words at plain hyphens and print them as
// typographic ones, which nobody can paste into a shell.
std::string Escaped(std::string_view line) {
  std::string text =
      absl::StrReplaceAll(ToAbsl(line), {{"\\", "\\e"}, {"-", "\\-"}});
  if (text.starts_with('.') || text.starts_with('\'')) text.insert(0, "\\&");
  return text;
}

void AppendLines(std::string& page, std::string_view lines) {
  page += ".nf\n";
  for (const absl::string_view line : absl::StrSplit(ToAbsl(lines), '\n')) {
    absl::StrAppend(&page, Escaped(ToStd(line)), "\n");
  }
  page += ".fi\n";
}

// Sections as they stand in --help: titles, and lines that are indented by 4.
void AppendSections(std::string& page, std::string_view text) {
  std::vector<std::string> lines;
  const auto end_section = [&] {
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    if (!lines.empty()) AppendLines(page, absl::StrJoin(lines, "\n"));
    lines.clear();
  };
  for (const absl::string_view line : absl::StrSplit(ToAbsl(text), '\n')) {
    if (line.empty() || line[0] == ' ') {
      if (!line.empty() || !lines.empty()) {
        lines.emplace_back(line.substr(std::min<size_t>(line.size(), 4)));
      }
      continue;
    }
    end_section();
    absl::StrAppend(&page, ".SH ", Escaped(ToStd(line)), "\n");
  }
  end_section();
}

void AppendFlag(std::string& page, const SettingInfo& setting) {
  absl::StrAppend(&page, ".TP\n\\fB\\-\\-", setting.name, "\\fR");
  if (!setting.is_switch()) {
    absl::StrAppend(&page, "=\\fI", Escaped(setting.hint), "\\fR");
  }
  absl::StrAppend(&page, "\n", Escaped(SettingText(setting)), "\n");
}

// The flags in their order.
std::vector<const SettingInfo*> FlagsOf(const PluginInfo& plugin) {
  std::vector<const SettingInfo*> flags;
  for (const SettingInfo& setting : plugin.settings) {
    if (setting.has_flag) flags.push_back(&setting);
  }
  return flags;
}

constexpr char kCompletion[] = R"(# Completion of kymo's command line for Bash.

# _kymo_target FLAGS FIRST: sets `target` to the place of the first word behind
# the command's FLAGS, looking from FIRST on.
_kymo_target() {
  local i=$2 word
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    case $word in
      --) target=$((i + 1)); return ;;
      -*)
        # Bash makes three words of --flag=value.
        if [[ ${COMP_WORDS[i + 1]-} == '=' ]]; then
          ((i += 3))
        elif [[ " $1 " == *" $word= "* ]]; then
          ((i += 2))
        else
          ((i += 1))
        fi
        ;;
      *) target=$i; return ;;
    esac
  done
  target=$i
}

# _kymo_values COMMAND FLAG: sets `values` to the words that the flag takes, and
# `list` where it takes several, with commas between them.
_kymo_values() {
  values= list=
  case "$1 $2" in
@VALUES@  esac
}

_kymo() {
  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-}
  local words= first=2 target=0
  COMPREPLY=()
  if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then
    words='profile report gate compare help version'
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  if [[ $command == help ]]; then
    ((COMP_CWORD == 2)) &&
      COMPREPLY=($(compgen -W 'profile report gate compare' -- "$current"))
    return
  fi
  if ((COMP_CWORD == 1)); then
    words='-- --help --version '
    first=1 command=profile
  elif [[ $command == -* ]]; then
    first=1 command=profile
  fi
  case $command in
    profile) words+='@PROFILE@' ;;
    report) words='@REPORT@' target=$((COMP_CWORD + 1)) ;;
    gate) words='@GATE@' ;;
    compare) words='@COMPARE@' ;;
    *) return ;;
  esac
  ((target)) || _kymo_target "$words" "$first"
  if ((target < COMP_CWORD)) ||
    { ((target == COMP_CWORD)) && [[ $current != -* && $current != '=' &&
      ${COMP_WORDS[COMP_CWORD - 1]} != '=' ]]; }; then
    # Other commands have files there, but behind -- a program.
    if [[ $command != profile && ${COMP_WORDS[target - 1]} != -- ]]; then
      return
    elif declare -F _command_offset >/dev/null; then
      _command_offset "$target"
    elif ((target == COMP_CWORD)); then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -c -- "$current"
        compgen -f -- "$current")
    fi
    return
  fi
  local flag= values list prefix= before=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == '=' ]]; then
    flag=$before current=
  elif [[ $before == '=' ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ " $words " == *" $before= "* ]]; then
    flag=$before
  fi
  if [[ $flag ]]; then
    _kymo_values "$command" "$flag"
    [[ ! $list ]] || prefix=${current%"${current##*,}"}
    [[ ! $values ]] ||
      COMPREPLY=($(compgen -P "$prefix" -W "$values" -- "${current##*,}"))
    return
  fi
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
      compopt -o nospace 2>/dev/null
    fi
  fi
}

complete -o bashdefault -o default -F _kymo kymo
)";

// The cases of _kymo_values.
std::string BashValues(const Manual& manual, std::string_view command) {
  std::string cases;
  for (const SettingInfo* const flag : FlagsOf(manual)) {
    const ValueWords values = ValueWordsOf(*flag);
    if (values.words.empty()) continue;
    absl::StrAppend(&cases, "    '", ToAbsl(command), " --", flag->name,
                    "') values='", absl::StrJoin(values.words, " "), "'",
                    values.is_list ? " list=1" : "", " ;;\n");
  }
  return cases;
}

}  // namespace

std::string ManPage(const Manual& manual, std::string_view title,
                    std::string_view version) {
  const std::string name = Escaped(title);
  std::string page =
      absl::StrCat(".TH ", absl::AsciiStrToUpper(name), " 1 \"\" \"kymo ",
                   ToAbsl(version), "\" \"Kymo\"\n.SH NAME\n", name, " \\- ",
                   Escaped(manual.name.substr(manual.name.find(" - ") + 3)),
                   "\n.SH SYNOPSIS\n");
  AppendLines(page, manual.synopsis);
  page += ".SH DESCRIPTION\n";
  for (const std::string& paragraph : manual.description) {
    absl::StrAppend(&page, ".PP\n", Escaped(paragraph), "\n");
  }
  page += ".SH EXAMPLES\n";
  AppendLines(page, manual.examples);
  page += ".SH FLAGS\n";
  for (const SettingInfo& flag : manual.own) AppendFlag(page, flag);
  AppendSections(page, manual.analyses);
  for (const PluginGroup& group : manual.groups) {
    absl::StrAppend(&page, ".SH ", group.title, "\n");
    for (const PluginInfo* const plugin : group.plugins) {
      absl::StrAppend(&page, ".SS ", plugin->name, "\n",
                      Escaped(PurposeText(*plugin)), "\n");
      for (const SettingInfo* const flag : FlagsOf(*plugin)) {
        AppendFlag(page, *flag);
      }
    }
  }
  AppendSections(page, manual.end);
  AppendSections(page, kDocumentationSection);
  page += ".SH SEE ALSO\n";
  std::string_view before = "";
  for (const std::string_view other : kManPages) {
    if (other == title) continue;
    absl::StrAppend(&page, ToAbsl(before), "\\fB", Escaped(other), "\\fR(1)");
    before = ", ";
  }
  return page + "\n";
}

std::vector<const SettingInfo*> FlagsOf(const Manual& manual) {
  std::vector<const SettingInfo*> flags;
  for (const SettingInfo& flag : manual.own) flags.push_back(&flag);
  for (const PluginGroup& group : manual.groups) {
    for (const PluginInfo* const plugin : group.plugins) {
      const std::vector<const SettingInfo*> more = FlagsOf(*plugin);
      flags.insert(flags.end(), more.begin(), more.end());
    }
  }
  return flags;
}

std::string FlagWordsOf(const Manual& manual) {
  std::vector<std::string> words;
  for (const SettingInfo* const flag : FlagsOf(manual)) {
    words.push_back(
        absl::StrCat("--", flag->name, flag->is_switch() ? "" : "="));
  }
  return absl::StrJoin(words, " ");
}

std::string BashCompletion(const CommandManuals& manuals) {
  const std::string values = BashValues(manuals.profile, "profile") +
                             BashValues(manuals.report, "report") +
                             BashValues(manuals.gate, "gate") +
                             BashValues(manuals.compare, "compare");
  return absl::StrReplaceAll(kCompletion,
                             {{"@VALUES@", values},
                              {"@PROFILE@", FlagWordsOf(manuals.profile)},
                              {"@REPORT@", FlagWordsOf(manuals.report)},
                              {"@GATE@", FlagWordsOf(manuals.gate)},
                              {"@COMPARE@", FlagWordsOf(manuals.compare)}});
}

}  // namespace kymo::tools
