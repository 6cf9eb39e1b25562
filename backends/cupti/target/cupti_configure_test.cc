#include "backends/cupti/target/cupti_configure.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string.h>

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "backends/cupti/target/cupti_functions.h"

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

// --- cupti_functions.h ---

enum class Since { kOfCuda12, kNewer, kOfClients };

// By cupti.h, what each pointer is to be.
struct Named {
  const char* name;
  void* (*pointer)(const CuptiFunctions&);
  Since since;
};
const Named kNamed[] = {
    {"cuptiGetVersion",
     [](const CuptiFunctions& f) { return (void*)f.get_version; },
     Since::kOfCuda12},
    {"cuptiSubscribe",
     [](const CuptiFunctions& f) { return (void*)f.subscribe; },
     Since::kOfCuda12},
    {"cuptiUnsubscribe",
     [](const CuptiFunctions& f) { return (void*)f.unsubscribe; },
     Since::kOfCuda12},
    {"cuptiActivityRegisterCallbacks",
     [](const CuptiFunctions& f) { return (void*)f.register_callbacks; },
     Since::kOfCuda12},
    {"cuptiActivityEnable",
     [](const CuptiFunctions& f) { return (void*)f.enable; }, Since::kOfCuda12},
    {"cuptiActivityDisable",
     [](const CuptiFunctions& f) { return (void*)f.disable; },
     Since::kOfCuda12},
    {"cuptiActivityFlushAll",
     [](const CuptiFunctions& f) { return (void*)f.flush_all; },
     Since::kOfCuda12},
    {"cuptiGetTimestamp",
     [](const CuptiFunctions& f) { return (void*)f.get_timestamp; },
     Since::kOfCuda12},
    {"cuptiActivityGetNumDroppedRecords",
     [](const CuptiFunctions& f) { return (void*)f.dropped; },
     Since::kOfCuda12},
    {"cuptiGetResultString",
     [](const CuptiFunctions& f) { return (void*)f.result_string; },
     Since::kOfCuda12},
    {"cuptiActivityGetNextRecord",
     [](const CuptiFunctions& f) { return (void*)f.next_record; },
     Since::kOfCuda12},
    {"cuptiGetCallbackName",
     [](const CuptiFunctions& f) { return (void*)f.callback_name; },
     Since::kOfCuda12},
    {"cuptiActivityEnableAndDump",
     [](const CuptiFunctions& f) { return (void*)f.enable_and_dump; },
     Since::kNewer},
    {"cuptiActivityRegisterTimestampCallback",
     [](const CuptiFunctions& f) { return (void*)f.set_clock; }, Since::kNewer},
    {"cuptiActivityConfigureUnifiedMemoryCounter",
     [](const CuptiFunctions& f) { return (void*)f.configure_unified; },
     Since::kNewer},
    {"cuptiActivityEnableLatencyTimestamps",
     [](const CuptiFunctions& f) { return (void*)f.enable_latency; },
     Since::kNewer},
    {"cuptiActivityEnableCudaEventDeviceTimestamps",
     [](const CuptiFunctions& f) { return (void*)f.enable_event_times; },
     Since::kNewer},
    {"cuptiActivityEnableAllSyncRecords",
     [](const CuptiFunctions& f) { return (void*)f.enable_all_sync; },
     Since::kNewer},
    {"cuptiSetThreadIdType",
     [](const CuptiFunctions& f) { return (void*)f.set_thread_id_type; },
     Since::kNewer},
    {"cuptiGetThreadIdType",
     [](const CuptiFunctions& f) { return (void*)f.get_thread_id_type; },
     Since::kNewer},
    {"cuptiEnableCallback",
     [](const CuptiFunctions& f) { return (void*)f.enable_callback; },
     Since::kNewer},
    {"cuptiSubscribe_v2",
     [](const CuptiFunctions& f) { return (void*)f.subscribe_v2; },
     Since::kOfClients},
    {"cuptiActivityRegisterCallbacks_v2",
     [](const CuptiFunctions& f) { return (void*)f.register_callbacks_v2; },
     Since::kOfClients},
    {"cuptiActivityEnable_v2",
     [](const CuptiFunctions& f) { return (void*)f.enable_v2; },
     Since::kOfClients},
    {"cuptiActivityDisable_v2",
     [](const CuptiFunctions& f) { return (void*)f.disable_v2; },
     Since::kOfClients},
    {"cuptiActivityEnableAndDump_v2",
     [](const CuptiFunctions& f) { return (void*)f.enable_and_dump_v2; },
     Since::kOfClients},
    {"cuptiActivityGetNextRecord_v2",
     [](const CuptiFunctions& f) { return (void*)f.next_record_v2; },
     Since::kOfClients},
    {"cuptiActivityGetNumDroppedRecords_v2",
     [](const CuptiFunctions& f) { return (void*)f.dropped_v2; },
     Since::kOfClients},
    {"cuptiGetTimestamp_v2",
     [](const CuptiFunctions& f) { return (void*)f.get_timestamp_v2; },
     Since::kOfClients},
    {"cuptiActivitySetAttribute_v2",
     [](const CuptiFunctions& f) { return (void*)f.set_attribute_v2; },
     Since::kOfClients},
};

// A library that has all functions but one: the n-th has address n + 1.
const char* missing = "";
constexpr char kFakeLibrary = 0;

void* FakeSymbol(const char* name) {
  if (strcmp(name, missing) == 0) return nullptr;
  for (size_t i = 0; i < std::size(kNamed); ++i) {
    if (strcmp(name, kNamed[i].name) == 0)
      return reinterpret_cast<void*>(i + 1);
  }
  return nullptr;
}

}  // namespace
}  // namespace kymo::cupti

// Comes before that of the C library.
extern "C" void* dlsym(void* library, const char* name) {
  if (library == &kymo::cupti::kFakeLibrary) {
    return kymo::cupti::FakeSymbol(name);
  }
  return dlvsym(library, name, "GLIBC_2.2.5");
}

namespace kymo::cupti {
namespace {

CuptiFunctions Found(bool expected) {
  CuptiFunctions functions = {};
  EXPECT_EQ(FindFunctions(const_cast<char*>(&kFakeLibrary), functions),
            expected)
      << missing;
  return functions;
}

TEST(CuptiFunctionsTest, EachIsFoundByItsName) {
  missing = "";
  const CuptiFunctions functions = Found(true);
  for (size_t i = 0; i < std::size(kNamed); ++i) {
    EXPECT_EQ(kNamed[i].pointer(functions), reinterpret_cast<void*>(i + 1))
        << kNamed[i].name;
  }
  EXPECT_TRUE(HasClients(functions));
}

TEST(CuptiFunctionsTest, OfNewerOnesAnyMayBeMissing) {
  for (const Named& named : kNamed) {
    missing = named.name;
    const CuptiFunctions functions = Found(named.since != Since::kOfCuda12);
    EXPECT_EQ(named.pointer(functions), nullptr) << missing;
    EXPECT_EQ(HasClients(functions), named.since != Since::kOfClients)
        << missing;
  }
}

}  // namespace
}  // namespace kymo::cupti
