#include "tools/command_line/completions.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/settings.h"
#include "tools/command_line/manual_files.h"
#include "tools/command_line/value_words.h"

namespace kymo::tools {
namespace {

constexpr char kZsh[] = R"(#compdef kymo
# Completion of kymo's command line for Zsh.

_kymo_profile() {
  _arguments -S \
    '--help[Show the manual]' \
@PROFILE@    '(-)1: :{ _command_names -e }' \
    '*:: :{ _normal }'
}

_kymo_report() {
  _arguments -S \
    '--help[Show the manual]' \
@REPORT@    '*:file:_files'
}

_kymo_gate() {
  _arguments -S \
    '--help[Show the manual]' \
@GATE@    '(-)1: :{ _command_names -e; _files }' \
    '*:: :{ _normal }'
}

_kymo_compare() {
  _arguments -S \
    '--help[Show the manual]' \
@COMPARE@    '(-)1:base program:_files' \
    '(-)2:head program:_files' \
    '*:file:_files'
}

_kymo() {
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    local -a commands=(
      'profile:record a program'
      'report:show what was recorded'
      'gate:hold a program to a budget'
      'compare:run two programs in turns'
      'help:show the manual of a command'
      'version:print the version'
    )
    _describe command commands
    return
  fi
  case $words[2] in
    profile) shift words; (( CURRENT-- )); _kymo_profile ;;
    report|gate|compare)
      local command=$words[2]
      shift words
      (( CURRENT-- ))
      _kymo_$command
      ;;
    help) (( CURRENT == 3 )) && compadd profile report gate compare ;;
    -*) _kymo_profile ;;
  esac
}

_kymo "$@"
)";

constexpr char kFish[] = R"(# Completion of kymo's command line for Fish.

# Which part of the command line the word at the cursor is of: start, a command,
# none, or the number of the word that is the target's first.
function __kymo_part
    set -l words (commandline -opc)
    set -l part start
    set -l is_value 0
    for i in (seq 2 (count $words))
        set -l word $words[$i]
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch $part:$word
            case start:profile
                set part profile
                continue
            case start:report start:gate start:compare start:help
                set part $word
                continue
            case 'start:--' 'profile:--' 'gate:--'
                echo (math $i + 1)
                return
            case 'start:-*' 'profile:-*'
                set part profile
                contains -- $word $__kymo_flags_with_values
                and set is_value 1
            case 'start:*'
                echo none
                return
            case 'profile:*'
                echo $i
                return
        end
    end
    echo $part
end

function __kymo_is
    contains -- (__kymo_part) $argv
end

function __kymo_in_target
    string match -qr '^\d+$' -- (__kymo_part)
end

function __kymo_target
    set -l part (__kymo_part)
    set -l words (commandline -opc)
    set -l rest
    if string match -qr '^\d+$' -- $part; and test $part -le (count $words)
        set rest $words[$part..-1]
    end
    if test $part = profile; and string match -q -- '-*' (commandline -ct)
        return
    end
    set -l line (string join -- ' ' (string escape -- $rest) (commandline -ct))
    complete --do-complete="$line"
end

set -g __kymo_flags_with_values @VALUES@

complete -c kymo -n '__kymo_is start none' -f
complete -c kymo -n '__kymo_is start' -a profile -d 'record a program'
complete -c kymo -n '__kymo_is start' -a report -d 'show what was recorded'
complete -c kymo -n '__kymo_is start' -a gate -d 'hold a program to a budget'
complete -c kymo -n '__kymo_is start' -a compare -d 'run two programs in turns'
complete -c kymo -n '__kymo_is start' -a help -d 'show the manual of a command'
complete -c kymo -n '__kymo_is start' -a version -d 'print the version'
complete -c kymo -n '__kymo_is help' -f -a 'profile report gate compare'
complete -c kymo -n '__kymo_is start profile report gate compare' -l help -d 'Show the manual'
complete -c kymo -n '__kymo_in_target; or __kymo_is profile' -f -a '(__kymo_target)'
@FLAGS@)";

std::string FirstSentence(std::string_view text) {
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

// In the scripts of both shells, texts stand within single quotes.
std::string ZshSpec(const SettingInfo& flag) {
  const std::string purpose = absl::StrReplaceAll(
      FirstSentence(flag.purpose),
      {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {"'", "'\\''"}});
  const std::string value = absl::StrReplaceAll(flag.hint, {{":", "\\:"}});
  const ValueWords values = ValueWordsOf(flag);
  const std::string words = absl::StrJoin(values.words, " ");
  const std::string action = words.empty() ? "_files"
                             : values.is_list
                                 ? absl::StrCat("_sequence compadd - ", words)
                                 : absl::StrCat("(", words, ")");
  return absl::StrCat(
      "    '--", flag.name, flag.is_switch() ? "[" : "=[", purpose, "]",
      flag.is_switch() ? "" : absl::StrCat(":", value, ":", action), "' \\\n");
}

std::string ZshSpecs(const Manual& manual) {
  std::string specs;
  for (const SettingInfo* const flag : FlagsOf(manual)) specs += ZshSpec(*flag);
  return specs;
}

std::string FishLine(const SettingInfo& flag, std::string_view where) {
  const std::string purpose = absl::StrReplaceAll(
      FirstSentence(flag.purpose), {{"\\", "\\\\"}, {"'", "\\'"}});
  const ValueWords values = ValueWordsOf(flag);
  const std::string words = absl::StrJoin(values.words, " ");
  const std::string value =
      flag.is_switch() ? ""
      : words.empty()  ? " -r"
      : values.is_list ? absl::StrCat(" -x -a '(__fish_append , ", words, ")'")
                       : absl::StrCat(" -x -a '", words, "'");
  return absl::StrCat("complete -c kymo -n '__kymo_is ", ToAbsl(where), "' -l ",
                      flag.name, value, " -d '", purpose, "'\n");
}

std::string FishLines(const Manual& manual, std::string_view where) {
  std::string lines;
  for (const SettingInfo* const flag : FlagsOf(manual)) {
    lines += FishLine(*flag, where);
  }
  return lines;
}

}  // namespace

std::string ZshCompletion(const CommandManuals& manuals) {
  return absl::StrReplaceAll(kZsh, {{"@PROFILE@", ZshSpecs(manuals.profile)},
                                    {"@REPORT@", ZshSpecs(manuals.report)},
                                    {"@GATE@", ZshSpecs(manuals.gate)},
                                    {"@COMPARE@", ZshSpecs(manuals.compare)}});
}

std::string FishCompletion(const CommandManuals& manuals) {
  const std::string flags = FishLines(manuals.profile, "start profile") +
                            FishLines(manuals.report, "report") +
                            FishLines(manuals.gate, "gate") +
                            FishLines(manuals.compare, "compare");
  std::string values;
  for (const SettingInfo* const flag : FlagsOf(manuals.profile)) {
    if (!flag->is_switch()) absl::StrAppend(&values, " --", flag->name);
  }
  return absl::StrReplaceAll(kFish,
                             {{" @VALUES@", values}, {"@FLAGS@", flags}});
}

}  // namespace kymo::tools
