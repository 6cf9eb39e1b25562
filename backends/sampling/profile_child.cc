#include "backends/sampling/profile_child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "backends/sampling/sampling_backend.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"

namespace kymo::sampling {
namespace {

constexpr useconds_t kPollUs = 10'000;

DurationNs CpuNs(const rusage& usage) {
  const auto ns = [](const timeval& t) {
    return int64_t{t.tv_sec} * kNsPerSecond + t.tv_usec * kNsPerUs;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

pid_t ForkStopped(const std::vector<std::string>& argv,
                  const Environment& environment) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& arg : argv) {
    arguments.push_back(const_cast<char*>(arg.c_str()));
  }
  arguments.push_back(nullptr);
  raise(SIGSTOP);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

absl::StatusOr<ChildRun> ProfileChild(const SessionOptions& options,
                                      const std::vector<std::string>& argv,
                                      const std::string& preload) {
  const auto backend = NewSamplingBackend();
  KYMO_RETURN_IF_ERROR(backend->Availability(options));
  KYMO_ASSIGN_OR_RETURN(const auto session, backend->NewSession(options));
  TargetSetup setup;
  KYMO_RETURN_IF_ERROR(session->Prepare(&setup));
  Environment& environment = setup.environment;
  if (!environment.empty()) environment["LD_PRELOAD"] = preload;
  ChildRun run;
  run.pid = ForkStopped(argv, environment);
  int status = 0;
  waitpid(static_cast<pid_t>(run.pid), &status, WUNTRACED);
  const absl::Status started = session->Start(static_cast<pid_t>(run.pid));
  if (!started.ok()) {
    kill(static_cast<pid_t>(run.pid), SIGKILL);
    waitpid(static_cast<pid_t>(run.pid), &status, 0);
    return started;
  }
  kill(static_cast<pid_t>(run.pid), SIGCONT);
  rusage usage{};
  for (bool ended = false; !ended;) {
    usleep(kPollUs);
    ended = wait4(static_cast<pid_t>(run.pid), &run.wait_status, WNOHANG,
                  &usage) == run.pid;
    const DurationNs before_ns = ThreadCpuNs();
    session->Poll();
    run.polling_ns += ThreadCpuNs() - before_ns;
  }
  run.cpu_time_ns = CpuNs(usage);
  KYMO_RETURN_IF_ERROR(session->Stop());
  KYMO_RETURN_IF_ERROR(session->Collect(run.shard).status());
  run.remarks = session->Remarks();
  return run;
}

std::vector<std::vector<std::string>> SampledStacks(
    const model::TraceShard& shard) {
  std::vector<std::vector<std::string>> stacks;
  for (const model::StackSample& sample : shard.samples) {
    auto& names = stacks.emplace_back();
    for (const model::FrameId frame : shard.stacks.Frames(sample.stack)) {
      names.emplace_back(shard.strings.Get(shard.stacks.frame(frame).function));
    }
  }
  return stacks;
}

namespace {

bool IsWord(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool HasWord(const std::string& text, const std::string& word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWord(text[at - 1])) &&
        (end == text.size() || !IsWord(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

double ShareOf(const model::TraceShard& shard, const std::string& function) {
  double matching = 0, all = 0;
  const auto stacks = SampledStacks(shard);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const auto weight = static_cast<double>(shard.samples[i].weight_ns);
    all += weight;
    if (std::any_of(
            stacks[i].begin(), stacks[i].end(),
            [&](const std::string& name) { return HasWord(name, function); })) {
      matching += weight;
    }
  }
  return all == 0 ? 0 : matching / all;
}

std::string Summary(const model::TraceShard& shard, size_t rows) {
  std::ostringstream text;
  text << shard.samples.size() << " samples, " << shard.tracks.size()
       << " threads, " << shard.processes.size() << " processes\n";
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    if (shard.ledger.Get(loss) == 0) continue;
    text << "  " << model::LossName(loss) << " " << shard.ledger.Get(loss)
         << "\n";
  }
  std::map<std::string, int> stacks;
  for (const auto& names : SampledStacks(shard)) {
    std::string line;
    for (const std::string& name : names) {
      line += (line.empty() ? "" : ";") + name;
    }
    ++stacks[line];
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [line, count] : stacks) order.push_back({-count, line});
  std::sort(order.begin(), order.end());
  if (order.size() > rows) order.resize(rows);
  for (const auto& [count, line] : order) text << -count << " " << line << "\n";
  return text.str();
}

}  // namespace kymo::sampling
