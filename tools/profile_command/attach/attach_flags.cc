#include "tools/profile_command/attach/attach_flags.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kymo::tools {
namespace {

constexpr std::string_view kRanges = "cpu";
// The command says itself what they lack: see NoticeUnused in options.cc.
constexpr std::string_view kMemory = "memory";

// All other backends have code in the programs, and read the settings of cpu.
bool IsFromOutside(std::string_view backend) {
  return backend == "sampling" || backend == "off_cpu";
}

std::vector<std::string> FlagsOfRanges(const ProfileCommand& command) {
  std::vector<std::string> flags;
  const auto add = [&](bool is_given, const char* flag) {
    if (is_given) flags.emplace_back(flag);
  };
  const bool implies_shapes =
      command.with_flops || command.group_by_input_shape;
  const bool implies_stacks = command.group_by_stack_n > 0;
  add(command.record_shapes && !implies_shapes, "--record_shapes");
  add(command.with_flops, "--with_flops");
  add(command.group_by_input_shape, "--group_by_input_shape");
  add(command.with_stack && !implies_stacks, "--with_stack");
  add(implies_stacks, "--group_by_stack_n");
  add(command.with_modules, "--with_modules");
  add(command.capture_overload_names, "--capture_overload_names");
  return flags;
}

}  // namespace

std::string FlagsWithoutEffect(const ProfileCommand& command,
                               const BackendRegistry& backends,
                               const std::vector<std::string>& recorded) {
  const auto is_recorded = [&](std::string_view backend) {
    return std::ranges::count(recorded, backend) != 0;
  };
  std::vector<std::string> flags;
  if (!is_recorded(kRanges)) flags = FlagsOfRanges(command);
  for (const ActivityBackend* const backend : backends.List()) {
    const std::string& name = backend->info().name;
    const bool is_read =
        is_recorded(name) ||
        (name == kRanges && !std::ranges::all_of(recorded, IsFromOutside));
    if (is_read || name == kMemory) continue;
    for (const SettingInfo& setting : backend->info().settings) {
      if (!command.settings.contains(setting.name)) continue;
      flags.push_back(absl::StrCat("--", setting.name));
    }
  }
  return flags.empty() ? ""
                       : absl::StrCat("; without effect here: ",
                                      absl::StrJoin(flags, ", "));
}

}  // namespace kymo::tools
