// Each function of NVTX, called as a program's copy of NVTX does: what Kymo
// records, what the program gets, and what a tool behind Kymo hears. The same
// test runs without that tool, too.
#include <pthread.h>
#include <unistd.h>

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

class NvtxCaptureTest : public NextToolTest {
 protected:
  // What the program gets: of the tool's, if there is one.
  static int Level(int ours, int function) {
    return !HasTool() ? ours : 70 + function;
  }

  const TestProgram& nvtx_ = TestProgram::Get();
};

TEST_F(NvtxCaptureTest, Marks) {
  stream::TestCapture capture(NewNvtxBackend());
  const EventAttributes event = TestEvent("ex");
  nvtx_.Core<void>(kMarkEx, &event);
  nvtx_.Core<void>(kMarkA, "a");
  nvtx_.Core<void>(kMarkW, L"w\u00e4");
  nvtx_.Core<void>(kMarkA, static_cast<const char*>(nullptr));
  nvtx_.Core2<void>(kDomainMarkEx, Handle{}, &event);
  EXPECT_EQ(capture.Stop(), (Texts{"mark ex", "mark a", "mark w\u00e4",
                                   "mark (no name)", "mark ex"}));
  const std::string told =
      "1.1 event\n1.2 a\n1.3 wide\n1.2 null\n5.1 0 event\n";
  EXPECT_EQ(Told(told), told);
}

TEST_F(NvtxCaptureTest, PushesAndPops) {
  stream::TestCapture capture(NewNvtxBackend());
  const EventAttributes event = TestEvent("ex");
  EXPECT_EQ(nvtx_.Core<int>(kRangePushEx, &event), Level(0, 8));
  EXPECT_EQ(nvtx_.Core<int>(kRangePushA, "a"), Level(1, 9));
  EXPECT_EQ(nvtx_.Core<int>(kRangePushW, L"w"), Level(2, 10));
  EXPECT_EQ(nvtx_.Core2<int>(kDomainRangePushEx, Handle{}, &event),
            Level(3, 4));
  EXPECT_EQ(nvtx_.Core2<int>(kDomainRangePop, Handle{}), Level(3, 5));
  for (const int level : {2, 1, 0}) {
    EXPECT_EQ(nvtx_.Core<int>(kRangePop), Level(level, 11));
  }
  EXPECT_EQ(nvtx_.Core<int>(kRangePop), Level(-1, 11));
  EXPECT_EQ(capture.Stop(), (Texts{"range ex", "range a", "range w", "range ex",
                                   "lost ends_without_begin 1"}));
  const std::string told =
      "1.8 event\n1.9 a\n1.10 wide\n5.4 0 event\n5.5 0\n1.11\n1.11\n1.11\n"
      "1.11\n";
  EXPECT_EQ(Told(told), told);
  // Nobody records: levels count all the same, and nothing is lost.
  EXPECT_EQ(nvtx_.Core<int>(kRangePushA, "a"), Level(0, 9));
  EXPECT_EQ(nvtx_.Core<int>(kRangePop), Level(0, 11));
  EXPECT_EQ(nvtx_.Core<int>(kRangePop), Level(-1, 11));
}

TEST_F(NvtxCaptureTest, StartsAndEnds) {
  stream::TestCapture capture(NewNvtxBackend());
  const EventAttributes event = TestEvent("ex");
  const RangeId ids[] = {
      nvtx_.Core<RangeId>(kRangeStartEx, &event),
      nvtx_.Core<RangeId>(kRangeStartA, "a"),
      nvtx_.Core<RangeId>(kRangeStartW, L"w"),
      nvtx_.Core2<RangeId>(kDomainRangeStartEx, Handle{}, &event)};
  std::string told = "1.4 event\n1.5 a\n1.6 wide\n5.2 0 event\n";
  for (const RangeId id : ids) {
    EXPECT_NE(id, 0u);
    EXPECT_EQ(id > 0x9000 && id < 0x9100, HasTool());
  }
  nvtx_.Core<void>(kRangeEnd, ids[0]);
  nvtx_.Core2<void>(kDomainRangeEnd, Handle{}, ids[1]);
  nvtx_.Core<void>(kRangeEnd, ids[2]);
  nvtx_.Core<void>(kRangeEnd, RangeId{0});
  EXPECT_EQ(capture.Stop(),
            (Texts{"async ex", "async a", "async w", "async ex (open)"}));
  EXPECT_EQ(Told(told).find(told), 0u);
  const RangeId id = nvtx_.Core<RangeId>(kRangeStartA, "nobody records");
  EXPECT_EQ(id != 0, HasTool());
  nvtx_.Core<void>(kRangeEnd, id);
}

TEST_F(NvtxCaptureTest, EndsAreToldWithTheToolsIds) {
  if (!HasTool()) return;  // the target with the tool
  const RangeId id = nvtx_.Core<RangeId>(kRangeStartA, "a");
  Told();
  nvtx_.Core<void>(kRangeEnd, id);
  nvtx_.Core2<void>(kDomainRangeEnd, Handle{}, id);
  const std::string text = std::to_string(id);
  EXPECT_EQ(Told(), "1.7 " + text + "\n5.3 0 " + text + "\n");
}

// A domain's handle, its categories and strings are the tool's; what is
// recorded has the names that they were made with.
TEST_F(NvtxCaptureTest, DomainsCategoriesAndStrings) {
  const auto io = nvtx_.Core2<Handle>(kDomainCreateA, "io");
  const auto wide = nvtx_.Core2<Handle>(kDomainCreateW, L"wide");
  nvtx_.Core<void>(kNameCategoryA, 3u, "three");
  nvtx_.Core<void>(kNameCategoryW, 4u, L"four");
  nvtx_.Core2<void>(kDomainNameCategoryA, io, 3u, "io three");
  nvtx_.Core2<void>(kDomainNameCategoryA, io, 35u, "of the same place");
  nvtx_.Core2<void>(kDomainNameCategoryW, wide, 4u, L"wide four");
  nvtx_.Core2<void>(kDomainNameCategoryA, io, 5u, "old");
  nvtx_.Core2<void>(kDomainNameCategoryA, io, 5u, "new");
  const auto text = nvtx_.Core2<Handle>(kDomainRegisterStringA, io, "text");
  const auto wide_text =
      nvtx_.Core2<Handle>(kDomainRegisterStringW, io, L"wide text");
  nvtx_.Core2<void>(kInitialize, static_cast<const void*>(nullptr));
  const std::string told =
      "5.12 io\n5.13 wide\n1.12 3 three\n1.13 4 wide\n5.8 " + TextOf(io) +
      " 3 io three\n5.8 " + TextOf(io) + " 35 of the same place\n5.9 " +
      TextOf(wide) + " 4 wide\n5.8 " + TextOf(io) + " 5 old\n5.8 " +
      TextOf(io) + " 5 new\n5.10 " + TextOf(io) + " text\n5.11 " + TextOf(io) +
      " wide\n5.15 0\n";
  EXPECT_EQ(Told(told), told);
  stream::TestCapture capture(NewNvtxBackend());
  const auto mark = [&](Handle domain, uint32_t category, Handle message) {
    EventAttributes event = TestEvent(nullptr);
    event.category = category;
    event.message_type = kRegistered;
    event.message.registered = message;
    nvtx_.Core2<void>(kDomainMarkEx, domain, &event);
  };
  mark(nullptr, 0, text);
  mark(nullptr, 3, text);
  mark(nullptr, 4, wide_text);
  mark(nullptr, 5, text);
  mark(io, 0, text);
  mark(io, 3, text);
  mark(io, 35, text);
  mark(io, 5, text);
  mark(wide, 4, text);
  mark(reinterpret_cast<Handle>(0x70), 3, text);  // of nobody
  mark(io, 0, reinterpret_cast<Handle>(0x70));
  nvtx_.Core2<void>(kDomainDestroy, io);
  mark(io, 0, text);
  EXPECT_EQ(
      capture.Stop(),
      (Texts{"mark text", "mark text, category=three",
             "mark wide text, category=four", "mark text, category=5",
             "mark text, domain=io", "mark text, domain=io, category=io three",
             "mark text, domain=io, category=of the same place",
             "mark text, domain=io, category=new",
             "mark text, domain=wide, category=wide four",
             "mark text, category=three", "mark (no name), domain=io",
             "mark text, domain=io"}));
}

TEST_F(NvtxCaptureTest, ANameThatCannotBeKeptLeavesTheOldOne) {
  const std::string too_long(2'000, 'x');
  nvtx_.Core<void>(kNameCategoryA, 77u, "old");
  nvtx_.Core<void>(kNameCategoryA, 77u, too_long.c_str());
  stream::TestCapture capture(NewNvtxBackend());
  EventAttributes event = TestEvent("e");
  event.category = 77;
  nvtx_.Core<void>(kMarkEx, &event);
  EXPECT_EQ(capture.Stop(), Texts{"mark e, category=old"});
}

TEST_F(NvtxCaptureTest, AttributesBecomeArguments) {
  stream::TestCapture capture(NewNvtxBackend());
  const auto mark = [&](int32_t type, auto set) {
    EventAttributes event = TestEvent("e");
    event.payload_type = type;
    set(event);
    nvtx_.Core<void>(kMarkEx, &event);
  };
  mark(kUint64, [](auto& e) { e.payload.u64 = ~uint64_t{0}; });
  mark(kUint64, [](auto& e) { e.payload.u64 = ~uint64_t{0} >> 1; });
  mark(kInt64, [](auto& e) { e.payload.i64 = -5; });
  mark(kDouble, [](auto& e) { e.payload.f64 = 2.5; });
  mark(kUint32, [](auto& e) { e.payload.u64 = ~uint64_t{0}; });
  mark(kInt32, [](auto& e) { e.payload.u64 = ~uint64_t{0}; });
  mark(kFloat, [](auto& e) { e.payload.f32 = 0.5; });
  mark(9, [](auto& e) { e.payload.u64 = 7; });
  mark(0, [](auto& e) {
    e.color_type = 1;
    e.color = 0xff000001;
  });
  mark(0, [](auto& e) { e.color = 5; });
  mark(0, [](auto& e) {
    e.color_type = 2;
    e.color = 5;
  });
  mark(0, [](auto& e) {
    e.message_type = kUnicode;
    e.message.unicode = L"wide";
  });
  mark(0, [](auto& e) {
    e.message_type = kUnicode;
    e.message.unicode = nullptr;
  });
  mark(0, [](auto& e) { e.message_type = 9; });
  mark(kDouble, [](auto& e) { e.size = 8; });  // of an older version
  nvtx_.Core<void>(kMarkEx, static_cast<const EventAttributes*>(nullptr));
  EXPECT_EQ(capture.Stop(),
            (Texts{"mark e, payload=18446744073709551615",
                   "mark e, payload=9223372036854775807", "mark e, payload=-5",
                   "mark e, payload=double 2.5", "mark e, payload=4294967295",
                   "mark e, payload=-1", "mark e, payload=double 0.5", "mark e",
                   "mark e, color=4278190081", "mark e", "mark e", "mark wide",
                   "mark (no name)", "mark (no name)", "mark (no name)",
                   "mark (no name)"}));
}

// Names of devices, contexts, streams and events, of both CUDA modules.
TEST_F(NvtxCaptureTest, NamesOfThings) {
  stream::TestCapture capture(NewNvtxBackend());
  const auto handle = [](uintptr_t n) { return reinterpret_cast<Handle>(n); };
  nvtx_.Cuda(kNameCuDeviceA, 1, "device");
  nvtx_.Cuda(kNameCuContextA, handle(2), "context");
  nvtx_.Cuda(kNameCuStreamA, handle(3), "stream");
  nvtx_.Cuda(kNameCuEventA, handle(4), "event");
  nvtx_.Cuda(kNameCuDeviceA + 1, 5, L"device w");
  nvtx_.Cuda(kNameCuContextA + 1, handle(6), L"context w");
  nvtx_.Cuda(kNameCuStreamA + 1, handle(7), L"stream w");
  nvtx_.Cuda(kNameCuEventA + 1, handle(8), L"event w");
  nvtx_.CudaRuntime(kNameCudaDeviceA, 9, "device");
  nvtx_.CudaRuntime(kNameCudaStreamA, handle(10), "stream");
  nvtx_.CudaRuntime(kNameCudaEventA, handle(11), "event");
  nvtx_.CudaRuntime(kNameCudaDeviceA + 1, 12, L"device w");
  nvtx_.CudaRuntime(kNameCudaStreamA + 1, handle(13), L"stream w");
  nvtx_.CudaRuntime(kNameCudaEventA + 1, handle(14), L"event w");
  const std::string told =
      "2.1 1 device\n2.3 2 context\n2.5 3 stream\n2.7 4 event\n2.2 5 wide\n"
      "2.4 6 wide\n2.6 7 wide\n2.8 8 wide\n4.1 9 device\n4.3 10 stream\n"
      "4.5 11 event\n4.2 12 wide\n4.4 13 wide\n4.6 14 wide\n";
  EXPECT_EQ(Told(told), told);
  std::string expected;
  const auto add = [&](const char* kind, const char* handle, const char* name) {
    expected += (expected.empty() ? "[" : ", ") +
                std::string("{\"process\": ") + std::to_string(getpid()) +
                ", \"kind\": \"" + kind + "\", \"handle\": \"0x" + handle +
                "\", \"name\": \"" + name + "\"}";
  };
  add("device", "1", "device");
  add("device", "5", "device w");
  add("device", "9", "device");
  add("device", "c", "device w");
  add("context", "2", "context");
  add("context", "6", "context w");
  add("stream", "3", "stream");
  add("stream", "7", "stream w");
  add("stream", "a", "stream");
  add("stream", "d", "stream w");
  add("event", "4", "event");
  add("event", "8", "event w");
  add("event", "b", "event");
  add("event", "e", "event w");
  EXPECT_EQ(capture.Stop(), (Texts{expected + "]"}));
}

TEST_F(NvtxCaptureTest, ResourcesOfADomain) {
  const auto io = nvtx_.Core2<Handle>(kDomainCreateA, "io");
  const auto text = nvtx_.Core2<Handle>(kDomainRegisterStringA, io, "text");
  stream::TestCapture capture(NewNvtxBackend());
  ResourceAttributes thing = {.size = sizeof(ResourceAttributes)};
  const auto create = [&](int32_t type, uint64_t id) {
    thing.type = type;
    thing.identifier = id;
    return nvtx_.Core2<Handle>(kDomainResourceCreate, io, &thing);
  };
  thing.message_type = kAscii;
  thing.message.ascii = "ascii";
  create(kCudaDevice, 1);
  create(kCudaRtDevice, 2);
  create(kCudaContext, 3);
  thing.message_type = kUnicode;
  thing.message.unicode = L"unicode";
  create(kCudaStream, 4);
  create(kCudaRtStream, 5);
  thing.message_type = kRegistered;
  thing.message.registered = text;
  create(kCudaEvent, 6);
  create(kCudaRtEvent, 7);
  create(kPosixThread, 8);  // another one than this
  const auto last = create(123, 9);
  thing.size = sizeof(ResourceAttributes) - 1;
  create(123, 10);
  nvtx_.Core2<Handle>(kDomainResourceCreate, io,
                      static_cast<ResourceAttributes*>(nullptr));
  Told();
  nvtx_.Core2<void>(kDomainResourceDestroy, last);
  const std::string told = "5.7 " + TextOf(last) + "\n";
  EXPECT_EQ(Told(told), told);
  const Texts texts = capture.Stop();
  ASSERT_EQ(texts.size(), 1u);
  std::string shown;  // the kind, the handle and the name of each
  for (size_t at = 0;
       (at = texts[0].find("\"kind\": ", at)) != std::string::npos; ++at) {
    shown += texts[0].substr(at + 8, texts[0].find('}', at) - at - 8) + "\n";
  }
  const std::string domain = ", \"domain\": \"io\"\n";
  EXPECT_EQ(
      shown,
      "\"other\", \"handle\": \"0x9\", \"name\": \"text\"" + domain +
          "\"thread\", \"handle\": \"0x8\", \"name\": \"text\"" + domain +
          "\"device\", \"handle\": \"0x1\", \"name\": \"ascii\"" + domain +
          "\"device\", \"handle\": \"0x2\", \"name\": \"ascii\"" + domain +
          "\"context\", \"handle\": \"0x3\", \"name\": \"ascii\"" + domain +
          "\"stream\", \"handle\": \"0x4\", \"name\": \"unicode\"" + domain +
          "\"stream\", \"handle\": \"0x5\", \"name\": \"unicode\"" + domain +
          "\"event\", \"handle\": \"0x6\", \"name\": \"text\"" + domain +
          "\"event\", \"handle\": \"0x7\", \"name\": \"text\"" + domain);
}

TEST_F(NvtxCaptureTest, NamesOfThreads) {
  stream::TestCapture capture(NewNvtxBackend());
  const auto name_of_thread = [&] {
    return capture.Text(capture.shard().tracks.at(0).name);
  };
  nvtx_.Core<void>(kMarkA, "here");
  const auto tid = static_cast<uint32_t>(gettid());
  nvtx_.Core<void>(kNameOsThreadA, tid, "first");
  nvtx_.Core<void>(kNameOsThreadW, tid, L"second");
  const std::string told = "1.2 here\n1.14 " + std::to_string(tid) +
                           " first\n1.15 " + std::to_string(tid) + " wide\n";
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(capture.Stop(), (Texts{"mark here"}));
  EXPECT_EQ(name_of_thread(), "second");
  for (const bool is_native : {true, false}) {
    ResourceAttributes thread = {
        .size = sizeof(ResourceAttributes),
        .type = is_native ? kNativeThread : kPosixThread,
        .identifier = is_native ? tid : pthread_self(),
        .message_type = kAscii,
        .message = {.ascii = is_native ? "native" : "posix"}};
    stream::TestCapture again(NewNvtxBackend());
    nvtx_.Core<void>(kMarkA, "here");
    nvtx_.Core2<Handle>(kDomainResourceCreate, Handle{}, &thread);
    EXPECT_EQ(again.Stop(), (Texts{"mark here"}));
    EXPECT_EQ(again.Text(again.shard().tracks.at(0).name),
              is_native ? "native" : "posix");
  }
}

TEST_F(NvtxCaptureTest, WithoutATableThereIsNoTool) {
  EXPECT_EQ(InitializeInjectionNvtx2(nullptr), 0);
  EXPECT_EQ(
      InitializeInjectionNvtx2([](uint32_t) -> const void* { return nullptr; }),
      0);
  static constexpr CallbacksTable kOlder = {sizeof(CallbacksTable) - 1,
                                            nullptr};
  EXPECT_EQ(
      InitializeInjectionNvtx2([](uint32_t) -> const void* { return &kOlder; }),
      0);
  EXPECT_EQ(InitializeInjectionNvtxExtension(nullptr), 0);
}

}  // namespace
}  // namespace kymo::nvtx
