#include "examples/train_mlp/options.h"

#include <vector>

#include "gtest/gtest.h"

namespace mlp {
namespace {

std::string Parse(std::vector<std::string_view> arguments, Options& options) {
  return ParseOptions(arguments, options);
}

TEST(OptionsTest, SetsWhatIsGivenAndKeepsTheRest) {
  Options options;
  EXPECT_EQ(Parse({"--epochs=3", "--seed=0", "--counts=/tmp/a=b"}, options),
            "");
  EXPECT_EQ(options.epochs, 3);
  EXPECT_EQ(options.seed, 0);
  EXPECT_EQ(options.counts, "/tmp/a=b");
  EXPECT_EQ(options.hidden, Options().hidden);
}

TEST(OptionsTest, SaysWhatIsWrong) {
  Options options;
  for (const std::string_view argument :
       {"--epochs=0", "--epochs=", "--epochs=3x",
        "--epochs=99999999999999999999"}) {
    EXPECT_NE(Parse({argument}, options).find("--epochs must be a number"),
              std::string::npos)
        << argument;
  }
  for (const std::string_view argument :
       {"--epochs", "--epoch=3", "epochs=3", "-epochs=3", ""}) {
    EXPECT_NE(Parse({argument}, options).find("unknown argument"),
              std::string::npos)
        << argument;
  }
  EXPECT_EQ(options.epochs, Options().epochs);
}

TEST(OptionsTest, UsageNamesTheDefaults) {
  const Options options;
  for (const int64_t value :
       {options.epochs, options.batch_size, options.hidden, options.threads}) {
    EXPECT_NE(kUsage.find("(" + std::to_string(value) + ")"),
              std::string_view::npos);
  }
  Options help;
  EXPECT_EQ(Parse({"--help"}, help), "");
  EXPECT_TRUE(help.help);
}

}  // namespace
}  // namespace mlp
