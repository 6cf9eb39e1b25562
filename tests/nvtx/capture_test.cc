// A program that is annotated with NVIDIA's own headers and records itself.
//
// Long, because each function of NVTX has its own case.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "kymo/events.h"
#include "kymo/node_id.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "nvtx3/nvToolsExt.h"
#include "nvtx3/nvtx3.hpp"
#include "profiler/model/trace.h"
#include "profiler/record/host/host.h"
#include "profiler/report/ledger_text.h"
#include "tests/nvtx/trace_reader.h"

namespace kymo {
namespace {

using testing::ArgText;
using testing::Find;
using testing::FindAll;
using testing::ParentName;
using testing::RecordAll;

nvtxEventAttributes_t Event(const char* message) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  return event;
}

TEST(NvtxCaptureTest, RangesNestWithEachOtherAndWithOurs) {
  const auto profile = RecordAll([] {
    EXPECT_EQ(nvtxRangePushA("outer"), 0);
    {
      RecordFunction ours("ours");
      EXPECT_EQ(nvtxRangePushA("inner"), 1);
      nvtxMarkA("mark");
      EXPECT_EQ(nvtxRangePop(), 1);
    }
    EXPECT_EQ(nvtxRangePop(), 0);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ParentName(trace, "mark"), "inner");
  EXPECT_EQ(ParentName(trace, "inner"), "ours");
  EXPECT_EQ(ParentName(trace, "ours"), "outer");
  EXPECT_EQ(trace.type()[Find(trace, "outer")],
            model::ActivityType::kNvtxRange);
  EXPECT_EQ(trace.type()[Find(trace, "ours")], model::ActivityType::kCpuOp);
  EXPECT_EQ(report::LedgerText(trace.ledger()), "");
}

// Events of different nodes do not nest in PyTorch's list.
TEST(NvtxCaptureTest, RangesCarryTheNodeAsOperationsDo) {
  SetDefaultNodeId(3);
  const auto profile = RecordAll([] {
    nvtxRangePushA("outer");
    {
      RecordFunction ours("ours");
      nvtxRangePushA("inner");
      nvtxRangePop();
    }
    nvtxRangePop();
  });
  record::SetNodeId(-1);  // as before, for the other tests
  const absl::StatusOr<const EventList*> list = profile->events();
  ASSERT_TRUE(list.ok()) << list.status();
  const EventList& events = **list;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name, "outer");
  EXPECT_EQ(events[1].cpu_parent, 0u);
  EXPECT_EQ(events[2].cpu_parent, 1u);
  for (const FunctionEvent& event : events) {
    EXPECT_EQ(event.node_id, 3) << event.name;
  }
}

TEST(NvtxCaptureTest, RangesStandInTheTable) {
  const auto profile = RecordAll([] {
    for (int i = 0; i < 3; ++i) {
      nvtxRangePushA("thrice");
      nvtxRangePop();
    }
  });
  bool found = false;
  const KeyAverages averages = profile->key_averages();
  for (const auto& row : averages) {
    if (row.key != "thrice") continue;
    found = true;
    EXPECT_EQ(row.count, 3);
  }
  EXPECT_TRUE(found);
}

TEST(NvtxCaptureTest, TheSamePointerMayHoldAnotherName) {
  const auto profile = RecordAll([] {
    char name[16] = "first";
    nvtxRangePushA(name);
    nvtxRangePop();
    snprintf(name, sizeof(name), "second");
    nvtxRangePushA(name);
    nvtxRangePop();
    snprintf(name, sizeof(name), "first");
    nvtxRangePushA(name);
    nvtxRangePop();
  });
  EXPECT_EQ(FindAll(*profile->trace(), "first").size(), 2u);
  EXPECT_EQ(FindAll(*profile->trace(), "second").size(), 1u);
}

TEST(NvtxCaptureTest, EventsKeepDomainCategoryColourAndPayload) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("io");
  nvtxDomainNameCategoryA(domain, 7, "reads");
  const auto profile = RecordAll([&] {
    nvtxEventAttributes_t event = Event("read");
    event.category = 7;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xff336699;
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = 2.5;
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
    event = Event("unnamed category");
    event.category = 8;
    event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    event.payload.iValue = -5;
    nvtxDomainMarkEx(domain, &event);
    event = Event("large");
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = ~uint64_t{0};
    nvtxMarkEx(&event);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ArgText(trace, "read", "domain"), "io");
  EXPECT_EQ(ArgText(trace, "read", "category"), "reads");
  EXPECT_EQ(ArgText(trace, "read", "color"), std::to_string(0xff336699));
  EXPECT_EQ(ArgText(trace, "read", "payload"), "2.5");
  EXPECT_EQ(ArgText(trace, "unnamed category", "category"), "8");
  EXPECT_EQ(ArgText(trace, "unnamed category", "payload"), "-5");
  EXPECT_EQ(ArgText(trace, "large", "payload"), "18446744073709551615");
  EXPECT_EQ(ArgText(trace, "large", "domain"), "none");
}

TEST(NvtxCaptureTest, EachDomainHasAStackOfItsOwn) {
  const nvtxDomainHandle_t a = nvtxDomainCreateA("a");
  const nvtxDomainHandle_t b = nvtxDomainCreateA("b");
  const auto profile = RecordAll([&] {
    const nvtxEventAttributes_t in_a = Event("in a");
    const nvtxEventAttributes_t in_b = Event("in b");
    EXPECT_EQ(nvtxDomainRangePushEx(a, &in_a), 0);
    EXPECT_EQ(nvtxDomainRangePushEx(b, &in_b), 0);
    EXPECT_EQ(nvtxDomainRangePop(a), 0);
    EXPECT_EQ(nvtxDomainRangePop(b), 0);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_LE(trace.end()[Find(trace, "in a")], trace.end()[Find(trace, "in b")]);
  EXPECT_EQ(trace.flags()[Find(trace, "in a")] & model::kEventOpen, 0);
  EXPECT_EQ(trace.flags()[Find(trace, "in b")] & model::kEventOpen, 0);
}

TEST(NvtxCaptureTest, RegisteredStringsAreNames) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("strings");
  const nvtxStringHandle_t name =
      nvtxDomainRegisterStringA(domain, "registered");
  EXPECT_EQ(nvtxDomainRegisterStringA(domain, "registered"), name);
  const auto profile = RecordAll([&] {
    nvtxEventAttributes_t event = Event(nullptr);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = name;
    nvtxDomainMarkEx(domain, &event);
    event.message.registered = nvtxDomainRegisterStringW(domain, L"weit: ä€😀");
    nvtxDomainMarkEx(domain, &event);
  });
  EXPECT_EQ(ArgText(*profile->trace(), "registered", "domain"), "strings");
  EXPECT_EQ(FindAll(*profile->trace(), "weit: ä€😀").size(), 1u);
}

TEST(NvtxCaptureTest, WideTextsBecomeUtf8) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateW(L"größe");
  const auto profile = RecordAll([&] {
    nvtxRangePushW(L"schön");
    nvtxRangePop();
    nvtxMarkW(L"文字");
    nvtxRangeEnd(nvtxRangeStartW(L"🙂"));
    nvtxEventAttributes_t event = Event(nullptr);
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    event.message.unicode = L"ζ";
    nvtxDomainMarkEx(domain, &event);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(FindAll(trace, "schön").size(), 1u);
  EXPECT_EQ(FindAll(trace, "文字").size(), 1u);
  EXPECT_EQ(FindAll(trace, "🙂").size(), 1u);
  EXPECT_EQ(ArgText(trace, "ζ", "domain"), "größe");
}

TEST(NvtxCaptureTest, StartedRangesEndOnAnyThread) {
  const auto profile = RecordAll([] {
    const nvtxRangeId_t elsewhere = nvtxRangeStartA("ends elsewhere");
    const nvtxRangeId_t here = nvtxRangeStartA("ends here");
    EXPECT_NE(elsewhere, here);
    {
      RecordFunction ours("ours");
      nvtxRangeEnd(here);
    }
    std::thread([=] { nvtxRangeEnd(elsewhere); }).join();
  });
  const model::Trace& trace = *profile->trace();
  for (const char* const name : {"ends elsewhere", "ends here"}) {
    const model::EventIndex event = Find(trace, name);
    EXPECT_EQ(trace.flags()[event], model::kEventAsync) << name;
    EXPECT_GE(trace.end()[event], trace.start()[Find(trace, "ours")]) << name;
  }
  EXPECT_EQ(ParentName(trace, "ours"), "");
  EXPECT_EQ(report::LedgerText(trace.ledger()), "");
}

TEST(NvtxCaptureTest, ManyOpenRangesAreFoundAgain) {
  constexpr int kRanges = 5000;  // more than a chunk of records holds
  const auto profile = RecordAll([] {
    std::vector<nvtxRangeId_t> ids;
    for (int i = 0; i < kRanges; ++i) ids.push_back(nvtxRangeStartA("open"));
    for (int i = 0; i < kRanges; ++i) nvtxRangePushA("deep");
    for (int i = kRanges; i-- > 0;) EXPECT_EQ(nvtxRangePop(), i);
    for (const nvtxRangeId_t id : ids) nvtxRangeEnd(id);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(FindAll(trace, "open").size(), size_t{kRanges});
  EXPECT_EQ(FindAll(trace, "deep").size(), size_t{kRanges});
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOpenAtEnd), 0u);
}

TEST(NvtxCaptureTest, PopsWithoutPushAndUnknownEndsAreCounted) {
  const auto profile = RecordAll([] {
    EXPECT_LT(nvtxRangePop(), 0);
    const nvtxRangeId_t once = nvtxRangeStartA("once");
    nvtxRangeEnd(once);
    nvtxRangeEnd(once);
    nvtxRangeEnd(0x123456789abcdef);
    nvtxRangeEnd(0);
  });
  EXPECT_EQ(profile->trace()->ledger().Get(model::Loss::kEndsWithoutBegin), 3u);
}

TEST(NvtxCaptureTest, NullsAndOldAttributesAreShown) {
  const auto profile = RecordAll([] {
    nvtxRangePushA(nullptr);
    nvtxRangePop();
    nvtxMarkEx(nullptr);
    nvtxDomainMarkEx(nullptr, nullptr);
    nvtxEventAttributes_t event = Event("cut");
    event.size = 8;
    nvtxMarkEx(&event);
    nvtxNameCategoryA(3, nullptr);
    nvtxNameOsThreadA(0, nullptr);
    nvtxDomainResourceCreate(nullptr, nullptr);
    nvtxDomainDestroy(nvtxDomainCreateA(nullptr));
    nvtxMarkW(nullptr);
    nvtxDomainRangeEnd(nullptr, nvtxDomainRangeStartEx(nullptr, nullptr));
  });
  EXPECT_EQ(FindAll(*profile->trace(), "(no name)").size(), 6u);
}

TEST(NvtxCaptureTest, ARangeThatIsOpenAtTheEndIsShownAsSuch) {
  const auto profile = RecordAll([] { nvtxRangePushA("open"); });
  nvtxRangePop();
  const model::Trace& trace = *profile->trace();
  EXPECT_NE(trace.flags()[Find(trace, "open")] & model::kEventOpen, 0);
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOpenAtEnd), 1u);
}

TEST(NvtxCaptureTest, WhatWasOpenAtTheStartEndsQuietly) {
  nvtxRangePushA("before");
  const nvtxRangeId_t id = nvtxRangeStartA("before, too");
  const auto profile = RecordAll([=] {
    EXPECT_EQ(nvtxRangePop(), 0);
    nvtxRangeEnd(id);
    nvtxMarkA("mark");
  });
  EXPECT_EQ(profile->trace()->event_count(), 1u);
  EXPECT_EQ(report::LedgerText(profile->trace()->ledger()), "");
}

TEST(NvtxCaptureTest, AHundredThousandNamesAreKept) {
  constexpr int kNames = 100'000;
  const auto profile = RecordAll([] {
    for (int i = 0; i < kNames; ++i) {
      nvtxRangePushA(("name " + std::to_string(i)).c_str());
      nvtxRangePop();
    }
  });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), size_t{kNames});
  for (int i = 0; i < kNames; i += 7) {
    ASSERT_EQ(trace.EventName(i), "name " + std::to_string(i));
  }
  EXPECT_EQ(report::LedgerText(trace.ledger()), "");
}

TEST(NvtxCaptureTest, ThreadsHaveTheirNames) {
  const auto profile = RecordAll([] {
    int tid = 0;
    std::thread worker([&] {
      tid = gettid();
      nvtxNameOsThreadA(tid, "worker");
      nvtxMarkA("in worker");
    });
    worker.join();
    nvtxRangePushA("main");
    std::thread named;
    std::atomic<int> id = 0;
    std::atomic<bool> go = false;
    named = std::thread([&] {
      id = gettid();
      while (!go) std::this_thread::yield();
      nvtxMarkA("in named");
    });
    while (id == 0) std::this_thread::yield();
    nvtxNameOsThreadW(id, L"named by another");
    go = true;
    named.join();
    nvtxRangePop();
  });
  const model::Trace& trace = *profile->trace();
  const auto track_name = [&](const char* event) {
    return trace.Name(trace.tracks()[trace.track()[Find(trace, event)]].name);
  };
  EXPECT_EQ(track_name("in worker"), "worker");
  EXPECT_EQ(track_name("in named"), "named by another");
}

TEST(NvtxCaptureTest, AForkedChildEndsItsCopiesInSilence) {
  const auto profile = RecordAll([] {
    nvtxRangePushA("parent's");
    const pid_t child = fork();
    if (child == 0) {
      nvtxRangePop();
      nvtxRangePushA("child's");
      nvtxRangePop();
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    nvtxRangePop();
  });
  EXPECT_EQ(profile->trace()->event_count(), 1u);
  EXPECT_EQ(profile->trace()->flags()[0], 0);
}

struct LoaderDomain {
  static constexpr const char* name = "loader";
};

struct LoadMessage {
  static constexpr const char* message = "load";
};

TEST(NvtxCaptureTest, TheCppInterfaceIsCaptured) {
  const auto profile = RecordAll([] {
    const nvtx3::scoped_range_in<LoaderDomain> range(
        nvtx3::registered_string_in<LoaderDomain>::get<LoadMessage>(),
        nvtx3::rgb{255, 0, 0}, nvtx3::payload{42});
    nvtx3::mark_in<LoaderDomain>("progress");
    const nvtx3::unique_range_in<LoaderDomain> process("whole process");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ArgText(trace, "load", "domain"), "loader");
  EXPECT_EQ(ArgText(trace, "load", "payload"), "42");
  EXPECT_EQ(ArgText(trace, "load", "color"), std::to_string(0xffff0000));
  EXPECT_EQ(ParentName(trace, "progress"), "load");
  EXPECT_EQ(trace.flags()[Find(trace, "whole process")], model::kEventAsync);
}

TEST(NvtxCaptureTest, ItCanBeAskedForAlone) {
  const auto profile = RecordAll(
      [] {
        const RecordFunction ours("ours");
        kymo::Instant("ours, too");
        nvtxRangePushA("theirs");
        nvtxMarkA("mark");
        std::thread([] { nvtxMarkA("mark elsewhere"); }).join();
        nvtxRangePop();
      },
      {.activities = {"nvtx"}});
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(trace.event_count(), 3u);
  EXPECT_EQ(ParentName(trace, "mark"), "theirs");
  Find(trace, "mark elsewhere");
  EXPECT_EQ(report::LedgerText(trace.ledger()), "");
}

TEST(NvtxCaptureTest, ASettingSwitchesItOff) {
  const auto profile = RecordAll([] { nvtxMarkA("unheard"); },
                                 {.settings = {{"nvtx_capture", "0"}}});
  EXPECT_EQ(profile->trace()->event_count(), 0u);
}

}  // namespace
}  // namespace kymo
