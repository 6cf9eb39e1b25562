// sample_program - samples a program and prints what it found; for looking at
// the sampler by hand:
//   sample_program [name=value ...] -- program [argument ...]
// The names are those of the sampler's settings (sampling_hz), and `rows` and
// `preload`.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/sampling/profile_child.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"

namespace kymo::sampling {
namespace {

struct ProgramSettings {
  int64_t rows = 12;
  std::string preload;
};

const SettingTable<ProgramSettings>& ProgramTable() {
  using S = ProgramSettings;
  static const auto& table = *new SettingTable<S>(
      "", {{.name = "rows",
            .value = setting::Integer(&S::rows, 0),
            .purpose = "Rows of the summary."},
           {.name = "preload",
            .value = setting::Text(&S::preload),
            .purpose = "The library that the program loads for the timer."}});
  return table;
}

absl::Status SampleProgram(const SettingMap& given,
                           const std::vector<std::string>& command) {
  KYMO_ASSIGN_OR_RETURN(
      ResolvedSettings resolved,
      ResolveSettings(given, JoinSettings({SamplingTable().infos(),
                                           ProgramTable().infos()})));
  KYMO_ASSIGN_OR_RETURN(const ProgramSettings settings,
                        ProgramTable().Read(resolved.settings));
  const SessionOptions options = {.target = TargetKind::kChildProcess,
                                  .settings = std::move(resolved.settings)};
  KYMO_ASSIGN_OR_RETURN(const ChildRun run,
                        ProfileChild(options, command, settings.preload));
  std::printf("%scpu %.3f s, polling %.3f s\n",
              Summary(run.shard, static_cast<size_t>(settings.rows)).c_str(),
              static_cast<double>(run.cpu_time_ns) / 1e9,
              static_cast<double>(run.polling_ns) / 1e9);
  return absl::OkStatus();
}

}  // namespace
}  // namespace kymo::sampling

int main(int argc, char** argv) {
  kymo::SettingMap given;
  int next = 1;
  for (; next < argc && std::string(argv[next]) != "--"; ++next) {
    const std::string word = argv[next];
    const size_t equals = word.find('=');
    given[word.substr(0, equals)] =
        equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  const std::vector<std::string> command(argv + next + (next < argc),
                                         argv + argc);
  if (command.empty()) {
    std::fprintf(stderr, "usage: sample_program [name=value ...] -- program\n");
    return 2;
  }
  const absl::Status status = kymo::sampling::SampleProgram(given, command);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
