#include "examples/train_mlp/counts.h"

#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace mlp {
namespace {

TEST(CountsTest, CountsEveryThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 1000; ++j) Count<"threads">();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Counts()["threads"], 4000);
}

TEST(CountsTest, OneNameIsOneCounter) {
  Count<"same">();
  Count<"same">();
  CountDynamic(std::string("sa") + "me");
  EXPECT_EQ(Counts()["same"], 3);
}

TEST(CountsTest, WritesJson) {
  CountDynamic("a \"quoted\" name");
  const std::string path = testing::TempDir() + "/counts.json";
  ASSERT_TRUE(WriteCounts(path));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str().substr(0, 2), "{\n");
  EXPECT_NE(text.str().find("\"a \\\"quoted\\\" name\": 1"), std::string::npos);
  EXPECT_EQ(text.str().substr(text.str().size() - 3), "\n}\n");
}

TEST(CountsTest, SaysWhenItCannotWrite) {
  EXPECT_FALSE(WriteCounts(testing::TempDir() + "/no/such/folder/counts.json"));
}

}  // namespace
}  // namespace mlp
