// Tests the numbers that the records of a loaded backend get: correlations, and
// counts of what was lost.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/plugin/library/plugin_records.h"

namespace kymo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Numbers of several backends of one recording never meet.
TEST(PluginCorrelationsTest, GoOnBehindThoseOfOtherBackends) {
  const auto correlations = std::make_shared<PluginCorrelations>();
  correlations->taken = 10;
  const auto numbers_of = [&](std::vector<uint32_t> given) {
    model::TraceShard shard;
    PluginRecords records({.backend = "mine", .correlations = correlations},
                          shard);
    for (const uint32_t number : given) {
      KymoRange range = {};
      range.struct_size = sizeof(range);
      range.kind = KYMO_RANGE_CALL;
      range.process_id = range.thread_id = 1;
      range.name = "call";
      range.begin_ns = 1;
      range.correlation = number;
      EXPECT_EQ(records.table()->add_range(records.table()->host, &range),
                KYMO_OK);
    }
    const absl::Status status = records.Finish();
    std::vector<uint64_t> numbers;
    for (const model::Detail& detail : shard.details) {
      numbers.push_back(detail.correlation_id);
    }
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
      numbers.clear();
    }
    return numbers;
  };
  EXPECT_THAT(numbers_of({7, 3, 7}),
              ElementsAre(0x8000000cu, 0x8000000bu, 0x8000000cu));
  EXPECT_EQ(correlations->taken, 12u);
  EXPECT_THAT(numbers_of({1}), ElementsAre(0x8000000du));
  // The last ones.
  correlations->taken = 0x7fffffff - 2;
  EXPECT_THAT(numbers_of({1, 2, 3}), IsEmpty());
  EXPECT_THAT(numbers_of({1, 2}), ElementsAre(0xfffffffeu, 0xffffffffu));
}

TEST(PluginLossTest, EachCounterHasItsTextAndItsCount) {
  model::TraceShard shard;
  PluginRecords records(
      {.backend = "mine",
       .losses = {{"a", "as"}, {"none", "nothing"}, {"b", "bs \"x\""}}},
      shard);
  const KymoRecords& to = *records.table();
  EXPECT_EQ(to.add_loss(to.host, 0, 2), KYMO_OK);
  EXPECT_EQ(to.add_loss(to.host, 2, 4), KYMO_OK);
  EXPECT_EQ(to.add_loss(to.host, 0, 3), KYMO_OK);
  EXPECT_EQ(to.add_loss(to.host, 1, 0), KYMO_OK);
  EXPECT_EQ(to.add_loss(to.host, 3, 1), KYMO_INVALID_ARGUMENT);
  ASSERT_TRUE(records.Finish().ok());
  EXPECT_EQ(shard.ledger.Get(model::Loss::kBackendRecordsLost), 9u);
  const std::vector<std::string> remarks = records.TakeRemarks();
  ASSERT_EQ(remarks.size(), 3u);
  EXPECT_EQ(remarks[0], "mine: lost 5 as (a)");
  EXPECT_EQ(remarks[1], "mine: lost 4 bs \"x\" (b)");
  ASSERT_EQ(shard.metadata.size(), 1u);
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].key), "mine_losses");
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].json_value),
            R"({"a": {"count": 5, "text": "as"}, )"
            R"("b": {"count": 4, "text": "bs \"x\""}})");
}

TEST(PluginLossTest, CountsDoNotWrapAround) {
  model::TraceShard shard;
  PluginRecords records({.backend = "mine", .losses = {{"a", "as"}}}, shard);
  const KymoRecords& to = *records.table();
  EXPECT_EQ(to.add_loss(to.host, 0, ~uint64_t{0}), KYMO_OK);
  EXPECT_EQ(to.add_loss(to.host, 0, 5), KYMO_OK);
  ASSERT_TRUE(records.Finish().ok());
  EXPECT_THAT(records.TakeRemarks(),
              ElementsAre("mine: lost 18446744073709551615 as (a)"));
  EXPECT_EQ(shard.ledger.Get(model::Loss::kBackendRecordsLost), ~uint64_t{0});
  EXPECT_EQ(model::LossText(shard.ledger, model::Loss::kBackendRecordsLost),
            "records that a backend could not keep: of mine, "
            "18446744073709551615 as (a)");
  ASSERT_EQ(shard.metadata.size(), 1u);
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].json_value),
            R"({"a": {"count": 18446744073709551615, "text": "as"}})");
}

}  // namespace
}  // namespace kymo
