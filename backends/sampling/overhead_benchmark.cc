// overhead_benchmark - what sampling costs the target, and what is delivered.
//
//   bazel run //backends/sampling:overhead_benchmark
//       [-- rounds [hz [name=value ...]]]
//
// A child process runs a fixed compute-bound loop and reports how long that
// took by CLOCK_MONOTONIC; meanwhile this process is the collector. Each round
// runs, in turn:
//
//   plain    nothing
//   ticked   the child's own CPU-time timer at hz with an empty handler; the
//            kernel's tick bounds how often it really fires (250 Hz)
//   handler  a high-resolution timer at hz with an empty handler: what it costs
//            to interrupt the thread as often as perf does, and do nothing
//   perf     sampled by perf events, registers and up to 64 KiB of stack
//   timer    sampled by the timers in the target, if the library is beside us
//
// A run is 25 pieces of 20 ms. The comparison uses the lower decile of the
// pieces of all rounds, since other load only ever adds time. The output has
// the slow-down of each against plain, the share of due samples that arrived,
// and whether perf keeps its budget: an empty handler as often plus 1
// percentage point, 95 % delivered. check=1 makes a missed budget an error;
// other names are settings of the sampler.
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "backends/sampling/profile_child.h"
#include "profiler/base/clock.h"

namespace kymo::sampling {
namespace {

constexpr int kPieces = 25;
constexpr int64_t kPieceNs = 20 * kNsPerMs;

[[gnu::noipa]] uint64_t Compute(uint64_t rounds) {
  volatile uint64_t table[512] = {};
  uint64_t value = 1;
  for (uint64_t i = 0; i < rounds; ++i) {
    value = value * 6364136223846793005u + 1442695040888963407u;
    table[value >> 55] = table[value >> 55] + value;
  }
  return value + table[0];
}

void ArmEmptyHandler(clockid_t clock, int hz) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  timer_create(clock, &event, &timer);
  const itimerspec period = {{0, kNsPerSecond / hz}, {0, kNsPerSecond / hz}};
  timer_settime(timer, 0, &period, nullptr);
}

// Runs as the child: writes the ns of each piece to a descriptor.
int RunChild(char** argv) {
  const int64_t rounds = std::atoll(argv[2]);
  const std::string handler = argv[3];
  const int hz = std::atoi(argv[4]);
  if (handler == "ticked") ArmEmptyHandler(CLOCK_THREAD_CPUTIME_ID, hz);
  if (handler == "handler") ArmEmptyHandler(CLOCK_MONOTONIC, hz);
  int64_t spent_ns[kPieces];
  uint64_t value = 0;
  for (int64_t& piece_ns : spent_ns) {
    const int64_t before_ns = MonotonicNs();
    value += Compute(static_cast<uint64_t>(rounds));
    piece_ns = MonotonicNs() - before_ns;
  }
  asm volatile("" : : "r"(value));
  const int fd = std::atoi(argv[5]);
  return pwrite(fd, spent_ns, sizeof(spent_ns), 0) == sizeof(spent_ns) ? 0 : 1;
}

struct Variant {
  const char* name;
  const char* sampler;  // null: not sampled
  std::vector<int64_t> pieces_ns;
  double delivered_ns = 0;
  double due_ns = 0;
  DurationNs polling_ns = 0;

  double LowerDecileNs() const {
    std::vector<int64_t> sorted = pieces_ns;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : static_cast<double>(sorted[sorted.size() / 10]);
  }
};

class Measurement {
 public:
  Measurement(std::string self, int hz,
              std::map<std::string, std::string> settings)
      : self_(std::move(self)),
        hz_(hz),
        settings_(std::move(settings)),
        fd_(memfd_create("result", 0)) {
    constexpr int64_t kProbe = 20'000'000;
    const int64_t before_ns = MonotonicNs();
    Compute(kProbe);
    work_ = kProbe * kPieceNs / (MonotonicNs() - before_ns);
  }

  bool Run(Variant& variant) {
    const std::vector<std::string> command = {
        self_,        "--child",           std::to_string(work_),
        variant.name, std::to_string(hz_), std::to_string(fd_)};
    if (variant.sampler == nullptr) {
      std::string line;
      for (const std::string& word : command) line += word + " ";
      if (std::system(line.c_str()) != 0) return false;
    } else if (!RunSampled(variant, command)) {
      return false;
    }
    int64_t spent_ns[kPieces];
    if (pread(fd_, spent_ns, sizeof(spent_ns), 0) != sizeof(spent_ns)) {
      return false;
    }
    variant.pieces_ns.insert(variant.pieces_ns.end(), spent_ns,
                             spent_ns + kPieces);
    return true;
  }

 private:
  bool RunSampled(Variant& variant, const std::vector<std::string>& command) {
    SessionOptions options{.target = TargetKind::kChildProcess};
    options.settings = settings_;
    options.settings["sampling_hz"] = std::to_string(hz_);
    options.settings["sampling_sampler"] = variant.sampler;
    const std::string folder = self_.substr(0, self_.find_last_of('/') + 1);
    const auto run =
        ProfileChild(options, command, folder + "libtest_preload.so");
    if (!run.ok()) {
      std::fprintf(stderr, "%s: %s\n", variant.name,
                   run.status().ToString().c_str());
      return false;
    }
    for (const auto& sample : run->shard.samples) {
      variant.delivered_ns += static_cast<double>(sample.weight_ns);
    }
    variant.due_ns += static_cast<double>(run->cpu_time_ns);
    variant.polling_ns += run->polling_ns;
    return true;
  }

  const std::string self_;
  const int hz_;
  const std::map<std::string, std::string> settings_;
  const int fd_;
  int64_t work_ = 0;
};

int Main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const int hz = argc > 2 ? std::atoi(argv[2]) : 1000;
  std::map<std::string, std::string> settings;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = std::min(word.find('='), word.size());
    settings[word.substr(0, equals)] =
        word.substr(std::min(equals + 1, word.size()));
  }
  const bool is_check = settings.erase("check") != 0;
  char self[4096];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
  if (size <= 0) return 1;
  Measurement measurement(std::string(self, static_cast<size_t>(size)), hz,
                          settings);
  std::vector<Variant> variants = {{"plain", nullptr},
                                   {"ticked", nullptr},
                                   {"handler", nullptr},
                                   {"perf", "perf"},
                                   {"timer", "timer"}};
  for (int i = 0; i < rounds; ++i) {
    for (Variant& variant : variants) measurement.Run(variant);
  }
  const auto slowdown = [&](const Variant& variant) {
    return 100.0 * (variant.LowerDecileNs() / variants[0].LowerDecileNs() - 1);
  };
  std::printf("%d rounds at %d Hz\n%-8s %12s %10s %10s %12s\n", rounds, hz, "",
              "piece ms", "slower", "delivered", "poll us/run");
  for (const Variant& variant : variants) {
    if (variant.pieces_ns.empty()) continue;
    std::printf("%-8s %12.3f %9.2f%%", variant.name,
                variant.LowerDecileNs() / 1e6, slowdown(variant));
    if (variant.due_ns > 0) {
      std::printf(" %9.2f%% %12.0f",
                  100 * variant.delivered_ns / variant.due_ns,
                  static_cast<double>(variant.polling_ns) / 1e3 / rounds);
    }
    std::printf("\n");
  }
  const Variant& perf = variants[3];
  const bool is_within = slowdown(perf) <= slowdown(variants[2]) + 1 &&
                         perf.delivered_ns >= 0.95 * perf.due_ns;
  std::printf("perf within the budget: %s\n", is_within ? "yes" : "no");
  return is_check && !is_within ? 1 : 0;
}

}  // namespace
}  // namespace kymo::sampling

int main(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "--child") {
    return kymo::sampling::RunChild(argv);
  }
  return kymo::sampling::Main(argc, argv);
}
