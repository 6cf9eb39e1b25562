#include "importers/load/recorded_options.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "importers/load/load.h"
#include "profiler/model/folded_memory.h"
#include "tests/support/test_importer.h"

namespace kymo {
namespace {

model::Trace LoadFake(const std::string& name) {
  ImporterRegistry importers;
  EXPECT_TRUE(importers.Register(std::make_unique<FakeImporter>()).ok());
  auto loaded = Load({WriteFake(name, "range a 7 1 100 200\n")}, {}, importers);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return std::move(loaded->trace);
}

model::Trace WithMetadata(model::Trace trace, const std::string& key,
                          const std::string& json) {
  model::TraceData data = std::move(trace).Release();
  data.metadata.push_back(
      {data.strings.Intern(key), data.strings.Intern(json)});
  return model::Trace(std::move(data));
}

TEST(RecordedOptionsTest, NothingIsAssumed) {
  const RecordedOptions recorded = RecordedOptionsOf(LoadFake("plain"));
  EXPECT_FALSE(recorded.profile_memory);
  EXPECT_FALSE(recorded.with_flops);
  EXPECT_FALSE(recorded.with_stack);
  EXPECT_EQ(recorded.use_device, "");
}

TEST(RecordedOptionsTest, MetadataSayItAsNumberOrWord) {
  for (const char* const yes : {"1", "true"}) {
    EXPECT_TRUE(
        RecordedOptionsOf(WithMetadata(LoadFake("on"), "with_stack", yes))
            .with_stack);
  }
  for (const char* const no : {"0", "false", "\"1\""}) {
    EXPECT_FALSE(
        RecordedOptionsOf(WithMetadata(LoadFake("off"), "with_flops", no))
            .with_flops);
  }
}

TEST(RecordedOptionsTest, EachOptionHasItsKey) {
  const auto with = [](const char* key) {
    const RecordedOptions recorded =
        RecordedOptionsOf(WithMetadata(LoadFake("key"), key, "1"));
    return std::string(recorded.profile_memory ? "memory " : "") +
           (recorded.with_flops ? "flops " : "") +
           (recorded.with_stack ? "stack " : "");
  };
  EXPECT_EQ(with("profile_memory"), "memory ");
  EXPECT_EQ(with("with_flops"), "flops ");
  EXPECT_EQ(with("with_stack"), "stack ");
  EXPECT_EQ(with("with_modules"), "");
}

TEST(RecordedOptionsTest, RecordsOfMemoryShowThatItWasWatched) {
  model::TraceData records = LoadFake("records").Release();
  records.memory.resize(1);
  EXPECT_TRUE(
      RecordedOptionsOf(model::Trace(std::move(records))).profile_memory);
  model::TraceData sums = LoadFake("sums").Release();
  sums.folded_memory = std::make_shared<model::FoldedMemory>();
  EXPECT_TRUE(RecordedOptionsOf(model::Trace(std::move(sums))).profile_memory);
}

TEST(RecordedOptionsTest, AStreamWithoutWorkIsNoDevice) {
  model::TraceData data = LoadFake("idle").Release();
  data.tracks.push_back({.kind = model::TrackKind::kStream, .pid = 7});
  data.track_begin.push_back(data.track_begin.back());
  EXPECT_EQ(RecordedOptionsOf(model::Trace(std::move(data))).use_device, "");
}

TEST(RecordedOptionsTest, AStreamThatWorkedIsADevice) {
  model::TraceData data = LoadFake("stream").Release();
  data.tracks[0].kind = model::TrackKind::kStream;
  const model::Trace trace(std::move(data));
  EXPECT_EQ(RecordedOptionsOf(trace).use_device, "cuda");
}

TEST(RecordedOptionsTest, MetadataNameTheDevice) {
  const auto device_of = [](const char* json) {
    model::TraceData data = LoadFake("named").Release();
    data.tracks[0].kind = model::TrackKind::kStream;
    return RecordedOptionsOf(
               WithMetadata(model::Trace(std::move(data)), "use_device", json))
        .use_device;
  };
  EXPECT_EQ(device_of("\"npu\""), "npu");
  EXPECT_EQ(device_of("\"\""), "cuda");
  EXPECT_EQ(device_of("1"), "cuda");
  EXPECT_EQ(device_of("\"x\""), "x");
  EXPECT_EQ(device_of("\"xpu"), "cuda");
  EXPECT_EQ(device_of("xpu\""), "cuda");
  EXPECT_EQ(device_of("\"my_npu_2\""), "my_npu_2");
  EXPECT_EQ(device_of("\"NPU 2\""), "cuda");
  // Without a stream there is no device.
  EXPECT_EQ(
      RecordedOptionsOf(WithMetadata(LoadFake("none"), "use_device", "\"npu\""))
          .use_device,
      "");
}

}  // namespace
}  // namespace kymo
