// With tools of tests/nvtx, which the environment names. They write a log.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <string>

#include "kymo/record_function.h"
#include "profiler/library/emitter_backends.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

std::string LogFile(const std::string& variable) {
  return testing::TempDir() + "/" + variable;
}

// Nothing that reaches a tool is in a shard: its log has to tell.
class Logs : public testing::Environment {
 public:
  Logs() {
    for (const char* const name : {"NVTX_LOG", "ITT_LOG"}) {
      setenv(name, LogFile(name).c_str(), 1);
    }
  }
  void TearDown() override {
    EXPECT_EQ(FirstLines("NVTX_LOG", 1).substr(0, 10), "push work,");
    EXPECT_EQ(FirstLines("ITT_LOG", 3),
              "domain kymo\nbegin kymo work\nend kymo\n");
  }

 private:
  static std::string FirstLines(const std::string& variable, int count) {
    std::ifstream log(LogFile(variable) + "." + program_invocation_short_name);
    std::string lines;
    for (std::string line; count > 0 && std::getline(log, line); --count) {
      lines += line + "\n";
    }
    return lines;
  }
};
[[maybe_unused]] const testing::Environment* const kLogs =
    testing::AddGlobalTestEnvironment(new Logs);

void Operate() { const RecordFunction range("work"); }

KYMO_TEST_BACKEND(Nvtx, {.make = NewNvtxEmitterBackend,
                         .record = Operate,
                         .keeps_records = false,
                         .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(NvtxOfOneThread,
                  {.make = NewNvtxEmitterBackend,
                   .options = {.all_threads = false},
                   .record = Operate,
                   .keeps_records = false,
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Itt, {.make = NewIttEmitterBackend,
                        .record = Operate,
                        .keeps_records = false,
                        .time_per_test = std::chrono::milliseconds(500)});

TEST(EmitterBackendsTest, WorkWithinAProgramWhoseToolListens) {
  for (const auto& backend :
       {NewNvtxEmitterBackend(), NewIttEmitterBackend()}) {
    EXPECT_TRUE(backend->info().on_request);
    EXPECT_TRUE(backend->activity_types().empty());
    SessionOptions options;
    EXPECT_TRUE(backend->Availability(options).ok());
    options.target = TargetKind::kChildProcess;
    EXPECT_EQ(backend->Availability(options),
              absl::FailedPreconditionError(
                  "it works within a program only: name it in "
                  "ProfileOptions::activities"));
  }
}

}  // namespace
}  // namespace kymo
