// test_page.h - reads the data of a page (exporters/html/data_block.h).
//
//   EXPECT_EQ(BlockOfPage(page, "summary"), "{...}");
#ifndef KYMO_TESTS_SUPPORT_TEST_PAGE_H_
#define KYMO_TESTS_SUPPORT_TEST_PAGE_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "tests/support/test_gzip.h"

namespace kymo {

// What the block holds, unpacked.
inline std::string BlockOfPage(const std::string& page,
                               const std::string& name) {
  const std::string begin = "data-name=\"" + name + "\">";
  const size_t at = page.find(begin);
  if (at == std::string::npos) return "no block " + name;
  const size_t first = at + begin.size();
  std::string packed;
  EXPECT_TRUE(absl::Base64Unescape(
      page.substr(first, page.find("</script>", first) - first), &packed));
  return Unzip(packed);
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_PAGE_H_
