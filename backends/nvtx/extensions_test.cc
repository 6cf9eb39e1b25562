// Ranges with payloads, and counters, of which each call also goes to a tool
// behind Kymo. The same test runs without that tool, too.

#include <cstdint>
#include <string>
#include <vector>

#include "backends/nvtx/nvtx_backend.h"
#include "backends/nvtx/target/nvtx_abi.h"
#include "backends/nvtx/test_next_tool.h"
#include "backends/nvtx/test_program.h"
#include "backends/stream/test_capture.h"
#include "gtest/gtest.h"

namespace kymo::nvtx {
namespace {

using Texts = std::vector<std::string>;

constexpr Handle kNoDomain = nullptr;

class NvtxExtensionsTest : public NextToolTest {
 protected:
  static bool IsOfTheTool(uint64_t id) { return id > 0x9000 && id < 0x9100; }

  const TestProgram& nvtx_ = TestProgram::Get();
  const PayloadData one_ = {kTypeUint8, 1, "\1"};
  const PayloadData two_ = {kTypeUint8, 1, "\2"};
};

TEST_F(NvtxExtensionsTest, RangesWithPayloads) {
  stream::TestCapture capture(NewNvtxBackend());
  EXPECT_EQ(nvtx_.Payload<uint8_t>(kDomainIsEnabled, kNoDomain) & 1, 1);
  nvtx_.Payload<void>(kMarkPayload, kNoDomain, &one_, size_t{1});
  const bool is_alone = !HasTool();
  EXPECT_EQ(nvtx_.Payload<int>(kRangePushPayload, kNoDomain, &one_, size_t{1}),
            is_alone ? 0 : 73);
  EXPECT_EQ(nvtx_.Payload<int>(kRangePushPayload, kNoDomain, &two_, size_t{1}),
            is_alone ? 1 : 73);
  EXPECT_EQ(nvtx_.Payload<int>(kRangePopPayload, kNoDomain, &one_, size_t{1}),
            is_alone ? 1 : 74);
  EXPECT_EQ(nvtx_.Payload<int>(kRangePopPayload, kNoDomain, &one_, size_t{0}),
            is_alone ? 0 : 74);
  EXPECT_EQ(nvtx_.Payload<int>(kRangePopPayload, kNoDomain, &one_, size_t{1}),
            is_alone ? -1 : 74);
  const auto id =
      nvtx_.Payload<RangeId>(kRangeStartPayload, kNoDomain, &one_, size_t{1});
  EXPECT_EQ(IsOfTheTool(id), !is_alone);
  nvtx_.Payload<void>(kRangeEndPayload, kNoDomain, id, &two_, size_t{1});
  nvtx_.Payload<void>(kRangeEndPayload, kNoDomain, RangeId{0}, &two_,
                      size_t{1});
  const std::string one = " 0 " + TextOf(&one_) + " 1\n";
  const std::string two = " 0 " + TextOf(&two_) + " 1\n";
  const std::string told = "102.7 0\n102.2" + one + "102.3" + one + "102.3" +
                           two + "102.4" + one + "102.4 0 " + TextOf(&one_) +
                           " 0\n102.4" + one + "102.5" + one + "102.6 0 " +
                           std::to_string(id) + " " + TextOf(&two_) +
                           " 1\n102.6 0 0 " + TextOf(&two_) + " 1\n";
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(capture.Stop(),
            (Texts{"mark (no name), payload=1", "range (no name), payload=1",
                   "range (no name), payload=2, payload=1",
                   "async (no name), payload=1, payload=2",
                   "lost ends_without_begin 1"}));
  // Nobody records, except that the tool may.
  EXPECT_EQ(nvtx_.Payload<uint8_t>(kDomainIsEnabled, kNoDomain),
            is_alone ? 0 : 70 + kDomainIsEnabled);
  nvtx_.Payload<void>(kMarkPayload, kNoDomain, &one_, size_t{1});
  nvtx_.Payload<int>(kRangePopPayload, kNoDomain, &one_, size_t{1});
  EXPECT_EQ(nvtx_.Payload<RangeId>(kRangeStartPayload, kNoDomain, &one_,
                                   size_t{1}) != 0,
            !is_alone);
}

TEST_F(NvtxExtensionsTest, CountersHaveNamesAndValues) {
  CounterAttributes attributes = {.size = sizeof(CounterAttributes),
                                  .name = "level"};
  const auto add = [&] {
    return nvtx_.Counter<uint64_t>(kCounterRegister, kNoDomain, &attributes);
  };
  const uint64_t level = add();
  attributes.name = nullptr;
  const uint64_t nameless = add();
  attributes.name = "given";
  attributes.id = 777;
  const uint64_t given = add();
  EXPECT_EQ(given == 777, !HasTool());
  EXPECT_NE(level, nameless);
  attributes.size -= 1;
  EXPECT_EQ(add() != 0, HasTool());
  nvtx_.Counter<uint64_t>(kCounterRegister, kNoDomain,
                          static_cast<const CounterAttributes*>(nullptr));
  std::vector<SchemaEntry> entries(
      2, SchemaEntry{.type = kTypeInt8, .name = "no counter"});
  const SchemaAttributes pair = {.fields = kSchemaHasId,
                                 .entries = entries.data(),
                                 .entry_count = 2,
                                 .id = 778};
  const auto schema =
      nvtx_.Payload<uint64_t>(kSchemaRegister, kNoDomain, &pair);
  Told();
  stream::TestCapture capture(NewNvtxBackend());
  const auto sample = [&](uint64_t counter) {
    nvtx_.Counter<void>(kCounterSampleInt64, kNoDomain, counter, int64_t{-7});
    nvtx_.Counter<void>(kCounterSampleFloat64, kNoDomain, counter, 0.5);
  };
  std::string told;
  for (const uint64_t counter :
       {level, nameless, given, schema, uint64_t{0x123456}}) {
    sample(counter);
    told += "104.1 0 " + std::to_string(counter) + " -7\n104.2 0 " +
            std::to_string(counter) + " 0.500000\n";
  }
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(capture.Stop(),
            (Texts{"counter level = -7", "counter level = 0.5",
                   "counter given = -7", "counter given = 0.5"}));
  sample(level);  // nobody records
}

TEST_F(NvtxExtensionsTest, SchemasAreTheToolsOrHaveIdsOfTheirOwn) {
  const SchemaEntry entry = {.type = kTypeInt8, .name = "x"};
  SchemaAttributes attributes = {
      .fields = 0, .entries = &entry, .entry_count = 1, .id = 55};
  const auto add = [&] {
    return nvtx_.Payload<uint64_t>(kSchemaRegister, kNoDomain, &attributes);
  };
  const uint64_t first = add();
  const uint64_t second = add();
  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(IsOfTheTool(first), HasTool());
  if (HasTool()) return;
  EXPECT_GE(first, kFirstDynamicSchema);
  attributes.fields = kSchemaHasId;
  EXPECT_EQ(add(), 55u);
  attributes.id = 0;
  EXPECT_EQ(add(), second + 1);
  // What cannot be a schema.
  attributes.entry_count = 4'097;
  EXPECT_EQ(add(), 0u);
  attributes.entries = nullptr;
  attributes.entry_count = 0;
  EXPECT_EQ(add(), 0u);
  EXPECT_EQ(
      nvtx_.Payload<uint64_t>(kSchemaRegister, kNoDomain,
                              static_cast<const SchemaAttributes*>(nullptr)),
      0u);
  EnumAttributes values = {.fields = kEnumHasId, .id = 56};
  const auto add_enum = [&] {
    return nvtx_.Payload<uint64_t>(kEnumRegister, kNoDomain, &values);
  };
  EXPECT_EQ(add_enum(), 0u);
  const EnumEntry value = {"one", 1, 0};
  values.entries = &value;
  values.entry_count = 1;
  EXPECT_EQ(add_enum(), 56u);
  values.fields = 0;
  EXPECT_EQ(add_enum(), second + 2);
}

// The tool's own functions and states; those that Kymo does not have.
TEST_F(NvtxExtensionsTest, SlotsThatKymoDoesNotKnowAreTheTools) {
  EXPECT_EQ(nvtx_.payload_slots()[8] != 0, HasTool());
  EXPECT_EQ(nvtx_.payload_slots()[9], 0);
  EXPECT_EQ(nvtx_.counter_slots()[3], 0);
  if (!HasTool()) return;
  nvtx_.Payload<void>(8, kNoDomain);
  EXPECT_EQ(Told(), "102.8 0\n");
}

TEST_F(NvtxExtensionsTest, ModulesOfAnotherFormAreRefused) {
  intptr_t slots[70] = {};
  ExtensionSegment segments[2] = {{0, 8, slots}, {0, 8, slots}};
  ExtensionModule module = {.size = sizeof(ExtensionModule),
                            .module = kPayloadExtension,
                            .segment_count = 2,
                            .segments = segments};
  const auto attach = [&] { return InitializeInjectionNvtxExtension(&module); };
  EXPECT_EQ(attach(), 0);
  module.segment_count = 1;
  segments[0].slots = nullptr;
  if (!HasTool()) {
    EXPECT_EQ(attach(), 0);
    module.segments = nullptr;
    EXPECT_EQ(attach(), 0);
  }
  // One that only the tool knows, and one that nobody does.
  segments[0].slots = slots;
  module.segments = segments;
  module.module = 77;
  EXPECT_EQ(attach(), HasTool());
  module.module = 78;
  EXPECT_EQ(attach(), 0);
  // Fewer slots than there are functions.
  if (HasTool()) return;
  module.module = kCounterExtension;
  segments[0].slot_count = 1;
  EXPECT_EQ(attach(), 1);
  EXPECT_NE(slots[0], 0);
  EXPECT_EQ(slots[1], 0);
}

}  // namespace
}  // namespace kymo::nvtx
