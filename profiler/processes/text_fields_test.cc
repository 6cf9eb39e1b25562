#include "profiler/processes/text_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace kymo::processes {
namespace {

TEST(TextFieldsTest, TheHeadersExample) {
  std::string_view rest = "ctxt 28119489\nbtime 1795355208\n";
  std::string_view line = NextLine(rest);
  EXPECT_EQ(NextWord(line), "ctxt");
  EXPECT_EQ(NextCount(line), 28119489u);
  EXPECT_EQ(NextWord(line), "");
  EXPECT_EQ(rest, "btime 1795355208\n");
}

TEST(TextFieldsTest, OnlyWholeNumbersOf64BitsAreCounts) {
  EXPECT_EQ(ToCount("18446744073709551615"),
            std::numeric_limits<uint64_t>::max());
  for (const char* const word :
       {"", "-1", "+1", " 1", "1 ", "0x10", "1.5", "18446744073709551616",
        "99999999999999999999999999", "1kB", "nan"}) {
    EXPECT_EQ(ToCount(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace kymo::processes
