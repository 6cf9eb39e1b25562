// Text whose parts are deep, long or many.
#include "importers/chrome/import_document.h"

#include <gtest/gtest.h>

#include <string>

#include "importers/chrome/test_import.h"

namespace kymo::chrome_import {
namespace {

TEST(ImportDocumentTest, DepthIsNoMatter) {
  const std::string deep(1'000'000, '[');
  EXPECT_FALSE(ImportText(deep).trace->event_count());
  EXPECT_FALSE(ImportText("{\"a\":" + deep).status.ok());
  const Imported got = ImportText(
      "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":" +
      deep + std::string(1'000'000, ']') + "}}]");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->event_count(), 1u);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(ImportText("[" + objects).status.ok());
}

TEST(ImportDocumentTest, LongMembersAreLeftOut) {
  const std::string text = "{\"long\":[" + std::string(50'000, '1') +
                           "],\"traceEvents\":[],\"short\":1}";
  const Imported got =
      ImportText(text, {.window_bytes = 512, .max_element_bytes = 10'000});
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.Count("member_too_long"), 1u);
  EXPECT_EQ(got.Offset("member_too_long"), 8u);
  EXPECT_EQ(got.trace->metadata().size(), 1u);
}

TEST(ImportDocumentTest, ManyElementsWithoutAnEndTakeNoQuadraticTime) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += "{{},{\"";
  const Imported got = ImportText(text, {.max_element_bytes = 100'000});
  EXPECT_TRUE(got.status.ok());
}

}  // namespace
}  // namespace kymo::chrome_import
