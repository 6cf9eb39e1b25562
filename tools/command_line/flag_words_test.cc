#include "tools/command_line/flag_words.h"

#include <gtest/gtest.h>

#include "absl/flags/flag.h"

ABSL_FLAG(int, words_test_number, 7, "A number.");
ABSL_FLAG(bool, words_test_switch, true, "A switch.");

namespace kymo::tools {
namespace {

constexpr OwnFlag kFlags[] = {{"words_test_number", "N"},
                              {"words_test_switch", nullptr}};

FlagRules Rules(FlagPlace place = FlagPlace::kFirst) {
  FlagRules rules;
  rules.flags = kFlags;
  rules.place = place;
  rules.plugin_options = [] { return std::set<std::string>{"metric"}; };
  return rules;
}

TEST(FlagWordsTest, ReadsFlagsOptionsAndOthers) {
  const auto words = ReadFlagWords({"--words_test_number=3", "--metric", "time",
                                    "--nowords_test_switch", "a", "--b"},
                                   Rules());
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(absl::GetFlag(FLAGS_words_test_number), 3);
  EXPECT_FALSE(absl::GetFlag(FLAGS_words_test_switch));
  EXPECT_EQ(words->settings.at("metric"), "time");
  EXPECT_EQ(words->others, (std::vector<std::string>{"a", "--b"}));
}

TEST(FlagWordsTest, EachCommandLineStartsFromTheDefaults) {
  ASSERT_TRUE(ReadFlagWords({"--words_test_number=3"}, Rules()).ok());
  ASSERT_TRUE(ReadFlagWords({}, Rules()).ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_words_test_number), 7);
}

TEST(FlagWordsTest, FlagsMayStandAmongOthers) {
  const auto words =
      ReadFlagWords({"a", "--words_test_number", "4", "b", "--", "--c"},
                    Rules(FlagPlace::kAnywhere));
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(absl::GetFlag(FLAGS_words_test_number), 4);
  EXPECT_EQ(words->others, (std::vector<std::string>{"a", "b", "--c"}));
}

TEST(FlagWordsTest, ErrorsSayWhatWouldDo) {
  EXPECT_EQ(ReadFlagWords({"--wrong"}, Rules()).status().message(),
            "there is no flag --wrong; it is one of: --help --metric "
            "--words_test_number --words_test_switch");
  EXPECT_EQ(ReadFlagWords({"--words_test_number"}, Rules()).status().message(),
            "--words_test_number needs a value");
  EXPECT_EQ(ReadFlagWords({"--words_test_number=x"}, Rules()).status().code(),
            absl::StatusCode::kInvalidArgument);
  // No switch, so there is no "no" form.
  EXPECT_FALSE(ReadFlagWords({"--nowords_test_number"}, Rules()).ok());
}

TEST(FlagWordsTest, HelpEndsReading) {
  const auto words = ReadFlagWords({"--help", "--wrong"}, Rules());
  ASSERT_TRUE(words.ok());
  EXPECT_TRUE(words->help);
}

TEST(FlagWordsTest, ListenersSeeOwnFlagsAndMayRefuse) {
  FlagRules rules = Rules();
  rules.on_flag = [](std::string_view name) {
    return absl::InvalidArgumentError(std::string(name) + " refused");
  };
  EXPECT_EQ(ReadFlagWords({"--words_test_number=1"}, rules).status().message(),
            "words_test_number refused");
  EXPECT_TRUE(ReadFlagWords({"--metric=1"}, rules).ok());
}

}  // namespace
}  // namespace kymo::tools
