// test_flag_fuzzer.h - random command lines for the test of a command's flags.
//
//   FuzzFlags({.names = {"row_limit", "gzip"}, .values = {"1", "chrome"}},
//             [&](const auto& words) { return ParseReport(words, ...); },
//             [](const ReportCommand& command) {
//               return !command.files.empty();
//             });
//
// Any words are a command or an error of one line. The seed is printed;
// KYMO_SEED in the environment sets it.
#ifndef KYMO_TESTS_SUPPORT_TEST_FLAG_FUZZER_H_
#define KYMO_TESTS_SUPPORT_TEST_FLAG_FUZZER_H_

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace kymo {

// The parts of random words, besides those that every command line may have.
struct FuzzWords {
  std::vector<std::string> names;   // of flags
  std::vector<std::string> values;  // that some flag takes
};

class FlagFuzzer {
 public:
  FlagFuzzer(FuzzWords words, uint32_t seed)
      : words_(std::move(words)), random_(seed) {
    for (const char* const name :
         {"help", "h", "unknown", "flagfile", "fromenv", "undefok", "no", ""}) {
      words_.names.emplace_back(name);
    }
    for (const char* const value :
         {"", "0", "1", "-1", "99999999999999999999", ",,", "true", "NaN",
          "0x1", "1e9", "\xff", "'\"`$(true)", "=", "--", "-", " ", "all"}) {
      words_.values.emplace_back(value);
    }
  }

  std::vector<std::string> CommandLine() {
    std::vector<std::string> line(random_() % 7);
    for (std::string& word : line) word = Word();
    return line;
  }

 private:
  // A word as people and broken scripts write them.
  std::string Word() {
    const std::string bytes = Bytes();
    switch (random_() % 8) {
      case 0:
        return Pick(words_.values);
      case 1:
        return bytes;
      case 2:
        return std::string(1 + random_() % 70'000, '-');
      case 3:
        return "--no" + Pick(words_.names);
      case 4:
        return "-" + Pick(words_.names);
      case 5:
        return "--" + Pick(words_.names) + "=" + bytes;
      default:
        return "--" + Pick(words_.names) +
               (random_() % 4 == 0 ? "" : "=" + Pick(words_.values));
    }
  }

  std::string Bytes() {
    std::string bytes(random_() % 12, ' ');
    for (char& byte : bytes) {
      do {
        byte = static_cast<char>(random_());
      } while (byte == '\0' || byte == '\n' || byte == '/');
    }
    return bytes;
  }

  const std::string& Pick(const std::vector<std::string>& from) {
    return from[random_() % from.size()];
  }

  FuzzWords words_;
  std::minstd_rand random_;
};

// `parse` makes a StatusOr of a command from words; `is_whole` says whether a
// command has all that it needs.
template <typename Parse, typename IsWhole>
void FuzzFlags(FuzzWords words, Parse parse, IsWhole is_whole) {
  const char* const given = std::getenv("KYMO_SEED");
  const auto seed = given != nullptr ? static_cast<uint32_t>(std::atol(given))
                                     : std::random_device()();
  std::cout << "KYMO_SEED=" << seed << std::endl;
  FlagFuzzer fuzzer(std::move(words), seed);
  int commands = 0;
  for (int i = 0; i < 4'000; ++i) {
    const auto command = parse(fuzzer.CommandLine());
    if (command.ok()) {
      ++commands;
      EXPECT_TRUE(is_whole(*command));
      continue;
    }
    const absl::Status& status = command.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(status.message().empty());
    EXPECT_EQ(std::string(status.message()).find('\n'), std::string::npos)
        << status;
  }
  EXPECT_GT(commands, 0);
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_FLAG_FUZZER_H_
