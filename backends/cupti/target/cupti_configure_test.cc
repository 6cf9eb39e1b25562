#include "backends/cupti/target/cupti_configure.h"

#include <gtest/gtest.h>
#include <string.h>

#include <utility>
#include <vector>

namespace kymo::cupti {
namespace {

// The attributes that were set for one client, and the first bytes of their
// values.
std::vector<std::pair<uint32_t, uint64_t>> attributes;
std::vector<int> thread_ids;

int SetAttribute(void*, uint32_t attribute, size_t* size, void* value) {
  uint64_t bytes = 0;
  memcpy(&bytes, value, *size);
  attributes.emplace_back(attribute, bytes);
  return 0;
}

uint64_t Now() { return 42; }

class CuptiConfigureTest : public ::testing::Test {
 protected:
  CuptiConfigureTest() {
    attributes.clear();
    thread_ids.clear();
  }

  int client_ = 0;
  CuptiFunctions functions_ = {};
};

TEST_F(CuptiConfigureTest, SaysWhatAnOlderLibraryLacks) {
  for (const ApiSetting setting :
       {ApiSetting::kSystemThreads, ApiSetting::kLatency,
        ApiSetting::kEventTimes, ApiSetting::kOnlyFulfilledWaits,
        ApiSetting::kUnified}) {
    EXPECT_EQ(Configure(functions_, nullptr, setting, true),
              ApiStatus::kMissing);
  }
  EXPECT_EQ(ConfigureClock(functions_, nullptr, Now), ApiStatus::kMissing);
}

TEST_F(CuptiConfigureTest, PutsBackTheIdsOfThreadsThatThereWere) {
  functions_.get_thread_id_type = [](int* type) {
    *type = kSystemThreadIds;
    return 0;
  };
  functions_.set_thread_id_type = [](int type) {
    thread_ids.push_back(type);
    return 0;
  };
  const auto threads = ApiSetting::kSystemThreads;
  EXPECT_EQ(Configure(functions_, nullptr, threads, true), ApiStatus::kOk);
  EXPECT_EQ(Configure(functions_, nullptr, threads, false), ApiStatus::kOk);
  EXPECT_EQ(thread_ids, (std::vector{kSystemThreadIds, kSystemThreadIds}));
  functions_.get_thread_id_type = [](int* type) {
    *type = kDefaultThreadIds;
    return 0;
  };
  thread_ids.clear();
  Configure(functions_, nullptr, threads, true);
  Configure(functions_, nullptr, threads, false);
  EXPECT_EQ(thread_ids, (std::vector{kSystemThreadIds, kDefaultThreadIds}));
}

// Bytes to the device and to the host, and page faults of the host and of the
// device: CUpti_ActivityUnifiedMemoryCounterKind of CUPTI's documentation.
TEST_F(CuptiConfigureTest, UnifiedMemoryHasFourCounters) {
  static std::vector<uint32_t> words;
  functions_.configure_unified = [](void* configs, uint32_t count) {
    const auto* const first = static_cast<const uint32_t*>(configs);
    words.assign(first, first + 4 * count);
    return 7;
  };
  const auto unified = ApiSetting::kUnified;
  for (void* const client :
       {static_cast<void*>(nullptr), static_cast<void*>(&client_)}) {
    words.clear();
    EXPECT_EQ(Configure(functions_, client, unified, true), ApiStatus{7});
    EXPECT_EQ(words, (std::vector<uint32_t>{1, 1, 0, 1, 1, 2, 0, 1,  //
                                            1, 3, 0, 1, 1, 4, 0, 1}));
    words.clear();
    EXPECT_EQ(Configure(functions_, client, unified, false), ApiStatus::kOk);
    EXPECT_TRUE(words.empty());
  }
}

TEST_F(CuptiConfigureTest, SetsTheLibraryWhereThereAreNoClients) {
  static std::vector<std::pair<char, int>> calls;
  static uint64_t (*clock)() = nullptr;
  functions_.enable_latency = [](uint8_t on) {
    calls.emplace_back('l', on);
    return 0;
  };
  functions_.enable_event_times = [](uint8_t on) {
    calls.emplace_back('e', on);
    return 0;
  };
  functions_.enable_all_sync = [](uint8_t on) {
    calls.emplace_back('s', on);
    return 3;
  };
  functions_.set_clock = [](uint64_t (*now)()) {
    clock = now;
    return 0;
  };
  for (const bool on : {true, false}) {
    EXPECT_EQ(Configure(functions_, nullptr, ApiSetting::kLatency, on),
              ApiStatus::kOk);
    EXPECT_EQ(Configure(functions_, nullptr, ApiSetting::kEventTimes, on),
              ApiStatus::kOk);
    EXPECT_EQ(
        Configure(functions_, nullptr, ApiSetting::kOnlyFulfilledWaits, on),
        ApiStatus{3});
    EXPECT_EQ(Configure(functions_, nullptr, ApiSetting::kWholeGraphs, on),
              ApiStatus::kOk);
  }
  // Only fulfilled waits: not all of them.
  EXPECT_EQ(calls,
            (std::vector<std::pair<char, int>>{
                {'l', 1}, {'e', 1}, {'s', 0}, {'l', 0}, {'e', 0}, {'s', 1}}));
  EXPECT_EQ(ConfigureClock(functions_, nullptr, Now), ApiStatus::kOk);
  EXPECT_EQ(clock, &Now);
}

TEST_F(CuptiConfigureTest, SetsAttributesOfAClientAlone) {
  functions_.set_attribute_v2 = SetAttribute;
  const auto set = [&](ApiSetting setting, bool on) {
    EXPECT_EQ(Configure(functions_, &client_, setting, on), ApiStatus::kOk);
  };
  set(ApiSetting::kSystemThreads, true);
  set(ApiSetting::kLatency, true);
  set(ApiSetting::kLatency, false);
  set(ApiSetting::kOnlyFulfilledWaits, true);
  set(ApiSetting::kEventTimes, true);
  set(ApiSetting::kWholeGraphs, true);
  set(ApiSetting::kWholeGraphs, false);
  using Set = std::vector<std::pair<uint32_t, uint64_t>>;
  EXPECT_EQ(attributes,
            (Set{{21, 1}, {15, 1}, {15, 0}, {16, 0}, {17, 1}, {20, 1}}));
}

TEST_F(CuptiConfigureTest, AClientHasAClockOfItsOwn) {
  functions_.set_attribute_v2 = SetAttribute;
  EXPECT_EQ(ConfigureClock(functions_, &client_, Now), ApiStatus::kOk);
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].first, 22u);
  EXPECT_EQ(attributes[0].second, reinterpret_cast<uint64_t>(&Now));
}

TEST_F(CuptiConfigureTest, ClocksAreSetOnlyWhereTimesSurviveThem) {
  EXPECT_TRUE(TakesClocks(19)) << "CUDA 12.0";
  EXPECT_TRUE(TakesClocks(23)) << "CUDA 12.5";
  EXPECT_FALSE(TakesClocks(24)) << "CUDA 12.6";
  EXPECT_FALSE(TakesClocks(130'001)) << "CUDA 13.0 Update 1";
  EXPECT_FALSE(TakesClocks(130'303)) << "CUDA 13.3";
  EXPECT_TRUE(TakesClocks(130'400)) << "CUDA 13.4";
}

}  // namespace
}  // namespace kymo::cupti
