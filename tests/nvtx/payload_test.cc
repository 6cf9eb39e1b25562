// Payloads with schemas, and counters: a program that calls NVTX's extensions.
// Debian's NVTX headers do not have them yet, so the calls go through the
// tables that a program's copy of NVTX would have.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/nvtx/target/nvtx_abi.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "profiler/model/trace.h"
#include "tests/nvtx/trace_reader.h"

extern "C" int InitializeInjectionNvtxExtension(
    kymo::nvtx::ExtensionModule* module);

namespace kymo::nvtx {
namespace {

using testing::ArgText;
using testing::Find;
using testing::RecordAll;

// What a program's copy of NVTX keeps of an extension.
class Extension {
 public:
  Extension(uint16_t module, size_t slot_count) : slots_(slot_count) {
    ExtensionSegment segment = {0, slots_.size(), slots_.data()};
    ExtensionModule attached = {.size = sizeof(ExtensionModule),
                                .module = module,
                                .segment_count = 1,
                                .segments = &segment};
    EXPECT_EQ(InitializeInjectionNvtxExtension(&attached), 1);
  }
  template <typename Result, typename... Arguments>
  Result Call(unsigned slot, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(slots_.at(slot))(
        arguments...);
  }

 private:
  std::vector<intptr_t> slots_;
};

const Extension& Payloads() {
  static const Extension extension(kPayloadExtension, 8);
  return extension;
}

constexpr Handle kNoDomain = nullptr;

uint64_t Register(const SchemaEntry* entries, size_t count,
                  size_t static_size = 0) {
  const SchemaAttributes attributes = {
      .fields = static_size != 0 ? kSchemaHasStaticSize : 0,
      .entries = entries,
      .entry_count = count,
      .static_size = static_size};
  return Payloads().Call<uint64_t>(kSchemaRegister, kNoDomain, &attributes);
}

uint64_t RegisterEnum(const EnumEntry* entries, size_t count, size_t size) {
  const EnumAttributes attributes = {.fields = kEnumHasSize,
                                     .entries = entries,
                                     .entry_count = count,
                                     .size = size};
  return Payloads().Call<uint64_t>(kEnumRegister, kNoDomain, &attributes);
}

void Mark(uint64_t schema, const void* data, size_t size) {
  const PayloadData payload = {schema, size, data};
  Payloads().Call<void>(kMarkPayload, kNoDomain, &payload, size_t{1});
}

TEST(NvtxPayloadTest, EntriesAreWhereACompilerPutsThem) {
  struct Inner {
    uint8_t byte;
    float half;
  };
  struct Blob {
    const char* message;
    int8_t small;
    double real;
    uint16_t list[3];
    const void* pointer;
    char text[6];
    Inner inner;
    const char* far_text;
  };
  const SchemaEntry inner[] = {{.type = kTypeUint8, .name = "byte"},
                               {.type = kTypeFloat, .name = "half"}};
  const uint64_t inner_id = Register(inner, std::size(inner), sizeof(Inner));
  const SchemaEntry entries[] = {
      {.flags = kEntryIsMessage, .type = kTypeCstring, .name = "message"},
      {.type = kTypeInt8, .name = "small"},
      {.type = kTypeDouble, .name = "real"},
      {.flags = kEntryArrayFixed,
       .type = kTypeUint16,
       .name = "list",
       .array_detail = 3},
      {.flags = kEntryIsPointer, .type = kTypeInt, .name = "pointer"},
      {.flags = kEntryArrayFixed,
       .type = kTypeCstring,
       .name = "text",
       .array_detail = 6},
      {.type = inner_id, .name = "inner"},
      {.type = kTypeCstring, .name = "far"}};
  const uint64_t id = Register(entries, std::size(entries), sizeof(Blob));
  EXPECT_NE(id, 0u);
  EXPECT_NE(id, inner_id);
  const auto profile = RecordAll([&] {
    const Blob blob = {.message = "whole",
                       .small = -3,
                       .real = 0.25,
                       .list = {1, 2, 65535},
                       .pointer = reinterpret_cast<const void*>(0x12ab),
                       .text = "abc",
                       .inner = {200, 0.5},
                       .far_text = "far away"};
    Mark(id, &blob, sizeof(blob));
    Blob cut = blob;
    cut.message = "cut";
    Mark(id, &cut, offsetof(Blob, pointer) + 7);
    Blob sized = blob;
    sized.message = "sized";
    Mark(id, &sized, ~size_t{0});  // as long as the schema says
  });
  const model::Trace& trace = *profile->trace();
  for (const char* const event : {"whole", "sized"}) {
    EXPECT_EQ(ArgText(trace, event, "small"), "-3");
    EXPECT_EQ(ArgText(trace, event, "real"), "0.25");
    EXPECT_EQ(ArgText(trace, event, "list"), "[1, 2, 65535]");
    EXPECT_EQ(ArgText(trace, event, "pointer"), "0x00000000000012ab");
    EXPECT_EQ(ArgText(trace, event, "text"), "abc");
    EXPECT_EQ(ArgText(trace, event, "inner.byte"), "200");
    EXPECT_EQ(ArgText(trace, event, "inner.half"), "0.5");
    EXPECT_EQ(ArgText(trace, event, "far"), "far away");
  }
  EXPECT_EQ(ArgText(trace, "cut", "list"), "[1, 2, 65535]");
  for (const char* const beyond : {"pointer", "text", "inner.byte", "far"}) {
    EXPECT_EQ(ArgText(trace, "cut", beyond), "none") << beyond;
  }
}

TEST(NvtxPayloadTest, ValuesOfEnumsHaveNames) {
  const EnumEntry colors[] = {{"red", 1, 0}, {"green", 2, 0}};
  const EnumEntry modes[] = {{"read", 1, 1}, {"write", 4, 1}, {"none", 0, 1}};
  struct Blob {
    const char* message;
    uint32_t color;
    uint16_t mode;
  };
  const SchemaEntry entries[] = {
      {.flags = kEntryIsMessage, .type = kTypeCstring, .name = "message"},
      {.type = RegisterEnum(colors, 2, 4), .name = "color"},
      {.type = RegisterEnum(modes, 3, 2), .name = "mode"}};
  const uint64_t id = Register(entries, std::size(entries));
  const auto profile = RecordAll([&] {
    for (const Blob& blob : {Blob{"green rw", 2, 5}, Blob{"red w2", 1, 6},
                             Blob{"7 none", 7, 0}, Blob{"3 of 8", 3, 8}}) {
      Mark(id, &blob, sizeof(blob));
    }
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ArgText(trace, "green rw", "color"), "green");
  EXPECT_EQ(ArgText(trace, "green rw", "mode"), "read|write");
  EXPECT_EQ(ArgText(trace, "red w2", "color"), "red");
  EXPECT_EQ(ArgText(trace, "red w2", "mode"), "write|2");
  EXPECT_EQ(ArgText(trace, "7 none", "color"), "7");
  EXPECT_EQ(ArgText(trace, "7 none", "mode"), "none");
  EXPECT_EQ(ArgText(trace, "3 of 8", "color"), "3");
  EXPECT_EQ(ArgText(trace, "3 of 8", "mode"), "8");
}

TEST(NvtxPayloadTest, AValueNeedsNoSchema) {
  const auto profile = RecordAll([] {
    const int64_t number = -7;
    const PayloadData first = {kTypeInt64, sizeof(number), &number};
    Payloads().Call<int>(kRangePushPayload, kNoDomain, &first, size_t{1});
    Payloads().Call<int>(kRangePopPayload, kNoDomain, &first, size_t{0});
  });
  EXPECT_EQ(ArgText(*profile->trace(), "(no name)", "payload"), "-7");
  const auto raw = RecordAll([] { Mark(kSchemaRaw, "12345", 5); });
  EXPECT_EQ(ArgText(*raw->trace(), "(no name)", "payload"), "5 bytes");
  const auto short_of_one = RecordAll([] { Mark(kTypeInt64, "1234567", 7); });
  EXPECT_EQ(ArgText(*short_of_one->trace(), "(no name)", "payload"),
            "(not shown)");
}

TEST(NvtxPayloadTest, RangesGetThePayloadOfTheirEndToo) {
  const SchemaEntry entries[] = {{.type = kTypeInt32, .name = "at the end"}};
  const uint64_t id = Register(entries, 1);
  const SchemaEntry named[] = {
      {.flags = kEntryIsMessage, .type = kTypeCstring, .name = "message"}};
  const uint64_t name_id = Register(named, 1);
  const auto profile = RecordAll([&] {
    EXPECT_EQ(Payloads().Call<uint8_t>(kDomainIsEnabled, kNoDomain), 1);
    const char* const outer = "outer";
    const char* const inner = "inner";
    const char* const started = "started";
    const PayloadData names[] = {{name_id, sizeof(outer), &outer},
                                 {name_id, sizeof(inner), &inner},
                                 {name_id, sizeof(started), &started}};
    const int32_t one = 1, two = 2, three = 3;
    const PayloadData ends[] = {{id, sizeof(one), &one},
                                {id, sizeof(two), &two},
                                {id, sizeof(three), &three}};
    const auto push = [&](int i) {
      return Payloads().Call<int>(kRangePushPayload, kNoDomain, &names[i],
                                  size_t{1});
    };
    const auto pop = [&](int i) {
      return Payloads().Call<int>(kRangePopPayload, kNoDomain, &ends[i],
                                  size_t{1});
    };
    EXPECT_EQ(push(0), 0);
    EXPECT_EQ(push(1), 1);
    EXPECT_EQ(pop(1), 1);
    EXPECT_EQ(pop(0), 0);
    const auto range = Payloads().Call<RangeId>(kRangeStartPayload, kNoDomain,
                                                &names[2], size_t{1});
    EXPECT_NE(range, 0u);
    std::thread([&] {
      Payloads().Call<void>(kRangeEndPayload, kNoDomain, range, &ends[2],
                            size_t{1});
    }).join();
  });
  EXPECT_EQ(Payloads().Call<uint8_t>(kDomainIsEnabled, kNoDomain), 0);
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ArgText(trace, "outer", "at the end"), "1");
  EXPECT_EQ(ArgText(trace, "inner", "at the end"), "2");
  EXPECT_EQ(ArgText(trace, "started", "at the end"), "3");
  EXPECT_EQ(testing::ParentName(trace, "inner"), "outer");
  EXPECT_TRUE(trace.flags()[Find(trace, "started")] & model::kEventAsync);
  EXPECT_FALSE(trace.flags()[Find(trace, "started")] & model::kEventOpen);
}

TEST(NvtxPayloadTest, CountersHaveTheirValues) {
  const Extension counters(kCounterExtension, 3);
  const auto add = [&](const char* name, uint64_t id) {
    const CounterAttributes attributes = {
        .size = sizeof(CounterAttributes), .name = name, .id = id};
    return counters.Call<uint64_t>(kCounterRegister, kNoDomain, &attributes);
  };
  const uint64_t whole = add("whole", 0);
  const uint64_t real = add("real", 0);
  EXPECT_NE(whole, 0u);
  EXPECT_NE(real, whole);
  const auto profile = RecordAll([&] {
    counters.Call<void>(kCounterSampleInt64, kNoDomain, whole, int64_t{-7});
    counters.Call<void>(kCounterSampleFloat64, kNoDomain, real, 0.5);
    counters.Call<void>(kCounterSampleFloat64, kNoDomain, real + 1000, 9.0);
  });
  std::vector<std::string> values;
  for (const model::CounterSample& sample : profile->trace()->counters()) {
    const std::string_view name = profile->trace()->Name(sample.name);
    if (name == "whole" || name == "real") {
      values.push_back(std::string(name) + "=" + std::to_string(sample.value));
    }
    EXPECT_NE(sample.value, 9.0);
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values,
            (std::vector<std::string>{"real=0.500000", "whole=-7.000000"}));
}

}  // namespace
}  // namespace kymo::nvtx
