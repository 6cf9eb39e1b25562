// sample_program - samples a program and prints what it found; for looking at
// the sampler by hand:
//   sample_program [name=value ...] -- program [argument ...]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/sampling/profile_child.h"

int main(int argc, char** argv) {
  size_t rows = 12;
  kymo::SessionOptions options{.target = kymo::TargetKind::kChildProcess};
  int next = 1;
  for (; next < argc && std::string(argv[next]) != "--"; ++next) {
    const std::string setting = argv[next];
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    if (name == "hz") {
      options.settings["sampling_hz"] = value;
    } else if (name == "rows") {
      rows = static_cast<size_t>(std::atoi(value.c_str()));
    } else {
      options.settings[name] = value;
    }
  }
  const std::vector<std::string> command(argv + next + (next < argc),
                                         argv + argc);
  if (command.empty()) {
    std::fprintf(stderr, "usage: sample_program [name=value ...] -- program\n");
    return 2;
  }
  const auto preload = options.settings.find("preload");
  const auto run = kymo::sampling::ProfileChild(
      options, command,
      preload == options.settings.end() ? "" : preload->second);
  if (!run.ok()) {
    std::fprintf(stderr, "%s\n", run.status().ToString().c_str());
    return 1;
  }
  std::printf("%scpu %.3f s, polling %.3f s\n",
              kymo::sampling::Summary(run->shard, rows).c_str(),
              static_cast<double>(run->cpu_time_ns) / 1e9,
              static_cast<double>(run->polling_ns) / 1e9);
  return 0;
}
