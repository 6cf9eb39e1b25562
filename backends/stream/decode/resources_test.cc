#include "backends/stream/decode/resources.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/record/arena/layout.h"

namespace kymo::stream {
namespace {

Resource Named(model::TraceShard& shard, std::string_view name,
               std::string_view domain, uint64_t handle = 0x5f0) {
  return {.pid = 12,
          .kind = static_cast<uint8_t>(record::ResourceKind::kStream),
          .handle = handle,
          .name = shard.strings.Intern(name),
          .domain = shard.strings.Intern(domain)};
}

std::string JsonOf(const std::vector<Resource>& resources,
                   model::TraceShard& shard) {
  AddResources(resources, shard);
  EXPECT_EQ(shard.metadata.size(), 1);
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].key), "named_resources");
  return std::string(shard.strings.Get(shard.metadata[0].json_value));
}

TEST(ResourcesTest, HeaderExample) {
  model::TraceShard shard;
  const std::vector<Resource> resources = {Named(shard, "copies", "loader")};
  EXPECT_EQ(JsonOf(resources, shard),
            R"([{"process": 12, "kind": "stream", "handle": "0x5f0", )"
            R"("name": "copies", "domain": "loader"}])");
}

TEST(ResourcesTest, TheLastNameOfAThingCountsAndThingsAreInOrder) {
  model::TraceShard shard;
  const std::vector<Resource> resources = {Named(shard, "late", "", 2),
                                           Named(shard, "first", "", 1),
                                           Named(shard, "last", "", 2)};
  EXPECT_EQ(JsonOf(resources, shard),
            R"([{"process": 12, "kind": "stream", "handle": "0x1", )"
            R"("name": "first"}, {"process": 12, "kind": "stream", )"
            R"("handle": "0x2", "name": "last"}])");
}

TEST(ResourcesTest, NamesStayJsonWhateverTheySay) {
  model::TraceShard shard;
  const std::vector<Resource> resources = {
      Named(shard, "\u03bb \"b\\ \n\xff", "\xed\xa0\x80")};
  const std::string json = JsonOf(resources, shard);
  EXPECT_NE(json.find("\"name\": \"\u03bb \\\"b\\\\ \\n\ufffd\""),
            std::string::npos)
      << json;
  // Half of a surrogate pair, which UTF-8 does not have.
  EXPECT_NE(json.find("\"domain\": \"\ufffd\ufffd\ufffd\""), std::string::npos)
      << json;
}

TEST(ResourcesTest, NothingWhereNothingHasAName) {
  model::TraceShard shard;
  AddResources({}, shard);
  EXPECT_TRUE(shard.metadata.empty());
}

}  // namespace
}  // namespace kymo::stream
