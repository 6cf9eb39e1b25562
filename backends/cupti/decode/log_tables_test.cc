#include "backends/cupti/decode/log_tables.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cupti/log/test_log.h"

namespace kymo::cupti {
namespace {

class LogTablesTest : public testing::Test {
 protected:
  const LogTables& Tables() {
    tables_ = std::make_unique<LogTables>(log_.bytes(), 0);
    return *tables_;
  }
  void Call(uint32_t correlation, uint64_t start, uint32_t thread = 1) {
    log_.Call("call", correlation, start, start + 1, thread);
  }
  void Event(uint32_t correlation, uint32_t event, uint64_t sync = 0) {
    EventRecord record = {};
    record.context = 1;
    record.event = event;
    record.stream = 100 + correlation;
    record.correlation = correlation;
    record.event_sync = sync;
    log_.Add(RecordKind::kEvent, record);
  }
  // The stream that a wait waits for; 0 if that is not known.
  uint32_t WaitsFor(uint32_t correlation, uint32_t event, uint64_t sync = 0,
                    uint32_t context = 1) const {
    SyncRecord wait = {};
    wait.context = context;
    wait.event = event;
    wait.correlation = correlation;
    wait.event_sync = sync;
    const RecordedEvent* const found = tables_->FindEvent(wait);
    return found == nullptr ? 0 : found->stream;
  }

  TestLog log_;
  std::unique_ptr<LogTables> tables_;
};

// The outer one of a runtime call and its driver call begins first.
TEST_F(LogTablesTest, TheOuterCallLaunches) {
  Call(7, 200, 2);
  Call(7, 100, 1);
  Call(5, 50, 3);
  Call(9, 60, 4);
  const LogTables& tables = Tables();
  EXPECT_EQ(tables.Launch(4), nullptr);
  EXPECT_EQ(tables.Launch(5)->thread, 3u);
  EXPECT_EQ(tables.Launch(6), nullptr);
  EXPECT_EQ(tables.Launch(7)->thread, 1u);
  EXPECT_EQ(tables.Launch(7)->start, 100u);
  EXPECT_EQ(tables.Launch(8), nullptr);
  EXPECT_EQ(tables.Launch(9)->thread, 4u);
  EXPECT_EQ(tables.Launch(10), nullptr);
  EXPECT_EQ(tables.count(RecordKind::kCall), 4u);
  EXPECT_EQ(tables.count(RecordKind::kKernel), 0u);
  EXPECT_EQ(tables.corrupt(), 0u);
}

TEST_F(LogTablesTest, TextsWithAnIdTooLargeAreCorrupt) {
  const TextRecord text = {
      .header = {.kind = RecordKind::kText, .words = 2, .name = 1u << 20},
      .size_bytes = 0};
  const LogTables tables(std::as_bytes(std::span(&text, 1)), 0);
  EXPECT_EQ(tables.count(RecordKind::kText), 1u);
  EXPECT_EQ(tables.corrupt(), 1u);
}

TEST_F(LogTablesTest, IdsMayBeFarApart) {
  for (const uint32_t id : {10u, 4'000'000'000u, 2'000'000'000u}) {
    Call(id, id, id % 1'000 + 1);
  }
  const LogTables& tables = Tables();
  EXPECT_EQ(tables.Launch(10)->thread, 11u);
  EXPECT_EQ(tables.Launch(2'000'000'000)->thread, 1u);
  EXPECT_EQ(tables.Launch(4'000'000'000)->correlation, 4'000'000'000u);
  EXPECT_EQ(tables.Launch(9), nullptr);
  EXPECT_EQ(tables.Launch(11), nullptr);
  EXPECT_EQ(tables.Launch(~uint32_t{0}), nullptr);
}

TEST_F(LogTablesTest, AnEmptyLogHasNothing) {
  const LogTables& tables = Tables();
  EXPECT_EQ(tables.Launch(1), nullptr);
  EXPECT_EQ(tables.Text(0), "");
  EXPECT_EQ(tables.Text(1), "");
  EXPECT_EQ(tables.Device(0), nullptr);
  EXPECT_EQ(tables.DeviceOfContext(0), std::nullopt);
  EXPECT_TRUE(tables.ExternalIds(0).empty());
  EXPECT_EQ(WaitsFor(1, 1), 0u);
}

TEST_F(LogTablesTest, AWaitIsForTheLastRecordingBeforeIt) {
  Event(30, 1);
  Event(10, 1);
  Event(20, 1, /*sync=*/77);
  Event(15, 2);
  Tables();
  EXPECT_EQ(WaitsFor(9, 1), 0u);
  EXPECT_EQ(WaitsFor(10, 1), 110u);
  EXPECT_EQ(WaitsFor(19, 1), 110u);
  EXPECT_EQ(WaitsFor(25, 1), 120u);
  EXPECT_EQ(WaitsFor(99, 1), 130u);
  EXPECT_EQ(WaitsFor(99, 2), 115u);
  EXPECT_EQ(WaitsFor(99, 3), 0u);
  EXPECT_EQ(WaitsFor(99, 1, 0, /*context=*/2), 0u);
  // Unless it names one.
  EXPECT_EQ(WaitsFor(99, 1, 77), 120u);
  EXPECT_EQ(WaitsFor(99, 1, 78), 130u);
}

TEST_F(LogTablesTest, TheProgramsIdsAreOneOfEachKind) {
  const auto add = [&](uint32_t correlation, uint32_t kind, uint64_t id) {
    ExternalRecord external = {};
    external.correlation = correlation;
    external.kind = kind;
    external.id = id;
    log_.Add(RecordKind::kExternal, external);
  };
  add(8, 3, 1);
  add(7, 4, 2);
  add(7, 3, 3);
  add(7, 3, 4);  // the first one counts
  const LogTables& tables = Tables();
  const auto ids = [&](uint32_t correlation) {
    std::vector<uint64_t> all;
    for (const ExternalRecord& external : tables.ExternalIds(correlation)) {
      all.push_back(external.id);
    }
    return all;
  };
  EXPECT_EQ(ids(6), std::vector<uint64_t>());
  EXPECT_EQ(ids(7), (std::vector<uint64_t>{3, 2}));
  EXPECT_EQ(ids(8), (std::vector<uint64_t>{1}));
}

TEST_F(LogTablesTest, ADeviceThatCanBeUsedWins) {
  const auto add = [&](uint64_t memory, uint32_t is_hidden) {
    DeviceRecord device = {};
    device.id = 3;
    device.memory_bytes = memory;
    device.is_hidden = is_hidden;
    log_.Add(RecordKind::kDevice, device);
  };
  add(1, 1);
  EXPECT_EQ(Tables().Device(3)->memory_bytes, 1u);
  add(2, 1);
  EXPECT_EQ(Tables().Device(3)->memory_bytes, 2u);
  add(3, 0);
  EXPECT_EQ(Tables().Device(3)->memory_bytes, 3u);
  add(4, 1);
  EXPECT_EQ(Tables().Device(3)->memory_bytes, 3u);
  add(5, 0);
  EXPECT_EQ(Tables().Device(3)->memory_bytes, 5u);
  EXPECT_EQ(Tables().devices().size(), 1u);
}

// What is said of a context counts, and work in it only where nothing is.
TEST_F(LogTablesTest, ContextsHaveDevices) {
  const auto work = [&](uint32_t context, uint32_t device, auto record,
                        RecordKind kind) {
    record.context = context;
    record.device = device;
    log_.Add(kind, record);
  };
  log_.Context(1, 5);
  work(1, 6, KernelRecord{}, RecordKind::kKernel);
  work(2, 7, KernelRecord{}, RecordKind::kKernel);
  work(3, 8, CopyRecord{}, RecordKind::kCopy);
  work(4, 9, SetRecord{}, RecordKind::kSet);
  work(2, 10, KernelRecord{}, RecordKind::kKernel);
  const LogTables& tables = Tables();
  EXPECT_EQ(tables.DeviceOfContext(1), 5u);
  EXPECT_EQ(tables.DeviceOfContext(2), 7u);
  EXPECT_EQ(tables.DeviceOfContext(3), 8u);
  EXPECT_EQ(tables.DeviceOfContext(4), 9u);
  EXPECT_EQ(tables.DeviceOfContext(5), std::nullopt);
}

TEST_F(LogTablesTest, LossesAreAddedUpByReason) {
  for (const uint64_t count : {3, 4}) {
    LossRecord loss = {};
    loss.reason = LossReason::kDropped;
    loss.count = count;
    log_.Add(RecordKind::kLoss, loss);
  }
  LossRecord texts = {};
  texts.reason = LossReason::kTexts;
  texts.count = 5;
  log_.Add(RecordKind::kLoss, texts);
  EXPECT_EQ(Tables().losses(),
            (std::map<LossReason, uint64_t>{{LossReason::kDropped, 7},
                                            {LossReason::kTexts, 5}}));
}

}  // namespace
}  // namespace kymo::cupti
