#include "tools/profile_command/options.h"

#include <signal.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "backends/builtin/builtin_backends.h"
#include "exporters/builtin/builtin_exporters.h"
#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    EXPECT_TRUE(RegisterBuiltinBackends(backends_).ok());
    EXPECT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  }
  absl::StatusOr<ProfileCommand> Parse(const std::vector<std::string>& words) {
    return ParseCommand(words, backends_, exporters_);
  }
  std::string ErrorOf(const std::vector<std::string>& words) {
    return std::string(Parse(words).status().message());
  }

  BackendRegistry backends_;
  ExporterRegistry exporters_;
};

TEST_F(OptionsTest, WhatFollowsTheTargetIsItsOwn) {
  const auto command = Parse({"--row_limit=5", "--arena_mib", "8", "program",
                              "--row_limit=7", "--nonsense"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->row_limit, 5);
  EXPECT_EQ(command->settings.at("arena_mib"), "8");
  EXPECT_EQ(command->target, (std::vector<std::string>{
                                 "program", "--row_limit=7", "--nonsense"}));
}

TEST_F(OptionsTest, FlightRecorderIsOfAnnotatedRanges) {
  const auto command =
      Parse({"--flight_recorder=30s", "--dump_signal=USR2", "program"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->flight_recorder);
  EXPECT_EQ(command->activities, (std::vector<std::string>{"cpu"}));
  EXPECT_EQ(command->settings.at("flight_recorder"), "30s");
  EXPECT_EQ(command->dump_signal, SIGUSR2);
  EXPECT_NE(ErrorOf({"--flight_recorder=30s", "--activities=sampling", "a"})
                .find("--activities=cpu"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--flight_recorder=30s", "--activities=cpu,cuda", "a"})
                .find("--activities=cpu"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--flight_recorder=30s", "--profile_memory", "a"})
                .find("leave out --profile_memory"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--dump_signal=USR1", "a"}).find("--flight_recorder"),
            std::string::npos);
}

TEST_F(OptionsTest, DumpNeedsNoTarget) {
  const auto command = Parse({"--dump=123"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->dump_pid, 123);
  EXPECT_FALSE(Parse({"--dump=-5"}).ok());
}

// A word as people and broken scripts write them.
std::string RandomWord(std::minstd_rand& random) {
  static const std::vector<std::string> kNames = {
      "activities",      "export",      "sampling_hz", "row_limit", "help",
      "flight_recorder", "dump",        "dump_signal", "arena_mib", "list",
      "when_full",       "sort_by",     "gzip",        "strict",    "h",
      "max_file_mib",    "memory_mode", "output_dir",  "quiet",     "",
      "unknown",         "flagfile",    "fromenv",     "undefok",   "no"};
  static const std::vector<std::string> kValues = {
      "",     "0",           "1",     "-1",   "99999999999999999999",
      "cpu",  ",,",          "cpu,",  "true", "NaN",
      "0x10", "1e9",         "drain", "30s",  "USR1",
      "\xff", "'\"`$(true)", "=",     "--",   "-",
      " ",    "chrome"};
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[random() % from.size()];
  };
  std::string bytes(random() % 12, ' ');
  for (char& byte : bytes) {
    do {
      byte = static_cast<char>(random());
    } while (byte == '\0' || byte == '\n' || byte == '/');
  }
  switch (random() % 8) {
    case 0:
      return pick(kValues);
    case 1:
      return bytes;
    case 2:
      return std::string(1 + random() % 70'000, '-');
    case 3:
      return "--no" + pick(kNames);
    case 4:
      return "-" + pick(kNames);
    case 5:
      return "--" + pick(kNames) + "=" + bytes;
    default:
      return "--" + pick(kNames) +
             (random() % 4 == 0 ? "" : "=" + pick(kValues));
  }
}

TEST_F(OptionsTest, AnyWordsAreACommandOrAnErrorInALine) {
  const char* const given = std::getenv("KYMO_SEED");
  const auto seed = given != nullptr ? static_cast<uint32_t>(std::atol(given))
                                     : std::random_device()();
  std::cout << "KYMO_SEED=" << seed << std::endl;
  std::minstd_rand random(seed);
  int commands = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::vector<std::string> words(random() % 7);
    for (std::string& word : words) word = RandomWord(random);
    const auto command = Parse(words);
    if (command.ok()) {
      ++commands;
      EXPECT_TRUE(command->help || command->list || command->dump_pid != 0 ||
                  !command->target.empty());
    } else {
      EXPECT_EQ(command.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_FALSE(command.status().message().empty());
      EXPECT_EQ(std::string(command.status().message()).find('\n'),
                std::string::npos)
          << command.status();
    }
  }
  EXPECT_GT(commands, 0);
}

}  // namespace
}  // namespace kymo::tools
