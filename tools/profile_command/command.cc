#include "tools/profile_command/command.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/builtin/builtin_backends.h"
#include "exporters/builtin/builtin_exporters.h"
#include "profiler/library/emitter_backends.h"
#include "profiler/plugin/registry.h"
#include "tools/command_line/say.h"
#include "tools/command_line/shared_flags.h"
#include "tools/command_line/user_folder.h"
#include "tools/profile_command/attach/attach_run.h"
#include "tools/profile_command/control_socket.h"
#include "tools/profile_command/on_demand/on_demand_run.h"
#include "tools/profile_command/options.h"
#include "tools/profile_command/profile_manual.h"
#include "tools/profile_command/profile_run.h"

namespace kymo::tools {

int RunCommand(const std::vector<std::string>& arguments) {
  BackendRegistry backends;
  ExporterRegistry exporters;
  absl::Status status = RegisterBuiltinBackends(backends);
  status.Update(RegisterEmitterBackends(backends));
  status.Update(RegisterBuiltinExporters(exporters));
  if (!status.ok()) return Fail(status, kExitFailed);
  GoWhereTheUserStood();
  absl::StatusOr<ProfileCommand> command =
      ParseCommand(arguments, backends, exporters);
  if (!command.ok()) return Fail(command.status(), kExitUsage);
  if (!command->quiet) {
    for (const std::string& notice : command->notices) Say(notice);
  }
  if (command->help) {
    const absl::StatusOr<std::string> page =
        ProfileManual(*command->help, backends, exporters);
    if (!page.ok()) return Fail(page.status(), kExitUsage);
    return Answer(*page);
  }
  if (command->version) return Answer(kVersionLine);
  if (command->list) {
    SessionOptions options;
    options.target = TargetKind::kChildProcess;
    options.settings = command->settings;
    return Answer(ListActivities(backends, options));
  }
  if (command->dump_pid != 0) {
    const absl::StatusOr<std::string> path = AskForDump(command->dump_pid);
    if (!path.ok()) return Fail(path.status(), kExitFailed);
    Say(absl::StrCat("wrote ", *path, "; `kymo report` reads it"));
    return 0;
  }
  if (command->on_demand) {
    return RecordOnDemand(*std::move(command), backends, exporters);
  }
  if (command->attach.is_wanted()) {
    return ProfileRunning(*std::move(command), backends, exporters);
  }
  return ProfileTarget(*std::move(command), backends, exporters);
}

}  // namespace kymo::tools
