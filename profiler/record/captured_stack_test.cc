#include "profiler/record/captured_stack.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "profiler/record/foreign_names.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/test_records.h"

namespace kymo::record {
namespace {

constexpr int kDomainA = 0;
constexpr int kDomainB = 0;

Slot some_slot;

// Domains and ranges are told apart by addresses and by tickets.
void Push(const void* domain, uint64_t ticket) {
  EXPECT_GE(PushCaptured(domain,
                         [ticket](OpenRange& range) {
                           EXPECT_EQ(range.slot, nullptr);
                           range.slot = &some_slot;
                           range.ticket = ticket;
                         }),
            0);
}

// The level and the range; "-1" if there is none.
std::string Pop(const void* domain) {
  OpenRange range;
  const int level = PopCaptured(domain, &range);
  return std::to_string(level) +
         (level < 0 ? "" : ":" + std::to_string(range.ticket));
}

TEST(CapturedStackTest, EachDomainHasAStackOfItsOwn) {
  // A thread begins with no stack.
  std::thread([] {
    EXPECT_EQ(captured_stack, nullptr);
    EXPECT_EQ(Pop(&kDomainA), "-1");
    EXPECT_EQ(TopCaptured(&kDomainA), nullptr);
    Push(&kDomainA, 1);
    Push(&kDomainB, 2);
    Push(&kDomainA, 3);
    Push(&kDomainB, 4);
    Push(&kDomainB, 5);
    EXPECT_EQ(captured_stack->size, 5u);
    EXPECT_EQ(TopCaptured(&kDomainA)->range.ticket, 3u);
    EXPECT_EQ(TopCaptured(&kDomainA)->level, 1);
    EXPECT_EQ(TopCaptured(&kDomainB)->range.ticket, 5u);
    EXPECT_EQ(TopCaptured(&kDomainB)->level, 2);
    EXPECT_EQ(TopCaptured(nullptr), nullptr);
    EXPECT_EQ(Pop(nullptr), "-1");
    // Below two ranges of the other domain, which stay in their order.
    EXPECT_EQ(Pop(&kDomainA), "1:3");
    EXPECT_EQ(captured_stack->size, 4u);
    EXPECT_EQ(Pop(&kDomainB), "2:5");
    EXPECT_EQ(Pop(&kDomainA), "0:1");
    EXPECT_EQ(Pop(&kDomainB), "1:4");
    EXPECT_EQ(Pop(&kDomainA), "-1");
    EXPECT_EQ(Pop(&kDomainB), "0:2");
    EXPECT_EQ(Pop(&kDomainB), "-1");
    EXPECT_EQ(captured_stack->size, 0u);
    // A range that is popped does not count for the levels of later ones.
    Push(&kDomainB, 6);
    EXPECT_EQ(TopCaptured(&kDomainB)->level, 0);
  }).join();
}

TEST(CapturedStackTest, StacksGrowAndKeepTheirRanges) {
  std::thread([] {
    Push(&kDomainA, 0);
    // 16 KiB: 8 bytes, and then entries.
    const uint32_t first_capacity = captured_stack->capacity;
    EXPECT_EQ(first_capacity, (16 * 1024 - 8) / sizeof(OpenCaptured));
    constexpr uint64_t kRanges = 1000;
    for (uint64_t i = 1; i < kRanges; ++i) {
      const CapturedStack* const before = captured_stack;
      Push(&kDomainA, i);
      if (i < first_capacity) {
        ASSERT_EQ(captured_stack, before) << i;
      }
    }
    EXPECT_GE(captured_stack->capacity, kRanges);
    EXPECT_LT(captured_stack->capacity, 3 * kRanges);
    for (uint64_t i = kRanges; i-- > 0;) {
      ASSERT_EQ(Pop(&kDomainA), std::to_string(i) + ":" + std::to_string(i));
    }
  }).join();
}

TEST(CapturedStackTest, AThreadsStackEndsWithIt) {
  const auto pages = [] {
    uint64_t count = 0;
    std::ifstream("/proc/self/statm") >> count;
    return count;
  };
  // The second time, the thread's own memory is there from the first.
  const auto use_and_end = [] {
    std::thread([] {
      Push(&kDomainA, 1);
      for (int i = 0; i < 1000; ++i) Push(&kDomainA, 1);
    }).join();
  };
  use_and_end();
  const uint64_t before = pages();
  constexpr int kThreads = 200;
  for (int i = 0; i < kThreads; ++i) use_and_end();
  // A stack for a thousand ranges takes twelve pages; sanitizers need some,
  // too.
  EXPECT_LT(pages(), before + 6 * kThreads);
}

TEST(CapturedStackTest, AHandlerThatInterruptsTheRecorderMakesNoStack) {
  std::thread([] {
    errno = EIO;
    {
      const Busy busy;
      EXPECT_EQ(PushCaptured(&kDomainA, [](OpenRange&) {}), -1);
    }
    // Its pop finds it.
    EXPECT_EQ(Pop(&kDomainA), "0:0");
    EXPECT_EQ(Pop(&kDomainA), "-1");
    Push(&kDomainA, 1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(own_thread.busy, 0u);
    const Busy busy;
    Push(&kDomainA, 2);  // there is room
    EXPECT_EQ(Pop(&kDomainA), "1:2");
  }).join();
}

// What a signal handler does between a push and the begin of its range.
TEST(CapturedStackTest, AHandlerMayMoveTheStackWhileARangeBegins) {
  std::thread([] {
    Push(&kDomainA, 0);
    const uint32_t capacity = captured_stack->capacity;
    for (uint32_t i = 1; i + 1 < capacity; ++i) Push(&kDomainA, i);
    const CapturedStack* const before = captured_stack;
    PushCaptured(&kDomainA, [&](OpenRange& range) {
      ASSERT_EQ(captured_stack->size, capacity);
      Push(&kDomainB, 7);
      EXPECT_NE(captured_stack, before);
      EXPECT_EQ(Pop(&kDomainB), "0:7");
      range.slot = &some_slot;
      range.ticket = 99;
    });
    EXPECT_EQ(Pop(&kDomainA), std::to_string(capacity - 1) + ":99");
  }).join();
}

TEST(CapturedStackTest, AfterAPopNothingIsLeftForAHandler) {
  std::thread([] {
    for (const void* domain : {&kDomainA, &kDomainB}) {
      PushCaptured(domain, [](OpenRange& range) { range.slot = &some_slot; });
    }
    OpenRange range;
    EXPECT_EQ(PopCaptured(&kDomainA, &range), 0);  // not the top
    EXPECT_EQ(range.slot, &some_slot);
    EXPECT_EQ(captured_stack->open[1].range.slot, nullptr);
    EXPECT_EQ(PopCaptured(&kDomainB, &range), 0);
    EXPECT_EQ(range.slot, &some_slot);
    EXPECT_EQ(captured_stack->open[0].range.slot, nullptr);
  }).join();
}

// Behind a push without memory, all are left out until its pop has come.
TEST(CapturedStackTest, PushesThatAreLeftOutTakeTheirOwnPops) {
  std::thread([] {
    Push(&kDomainA, 0);
    const uint32_t capacity = captured_stack->capacity;
    for (uint32_t i = 1; i < capacity; ++i) Push(&kDomainA, i);
    {
      const Busy busy;
      EXPECT_EQ(PushCaptured(&kDomainA, [](OpenRange&) { FAIL(); }), -1);
    }
    EXPECT_EQ(PushCaptured(&kDomainA, [](OpenRange&) { FAIL(); }), -1);
    EXPECT_EQ(captured_left_out, 2u);
    EXPECT_EQ(Pop(&kDomainA), "0:0");
    EXPECT_EQ(Pop(&kDomainA), "0:0");
    const std::string top = std::to_string(capacity - 1);
    EXPECT_EQ(Pop(&kDomainA), top + ":" + top);
    Push(&kDomainA, 5);
    Push(&kDomainA, 6);  // grows now
    EXPECT_EQ(Pop(&kDomainA), std::to_string(capacity) + ":6");
  }).join();
}

// --- foreign_names.h ---

using ForeignNamesTest = RecordTest;

TEST_F(ForeignNamesTest, TextsAreFoundByTheirHandle) {
  ForeignText* const text = AddForeignText("registered");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(AddForeignText("registered"), text);
  EXPECT_EQ(text->size, 10u);
  EXPECT_STREQ(text->text, "registered");
  EXPECT_EQ(reinterpret_cast<uint64_t>(text) % 16, 0u);
  EXPECT_EQ(FindForeignText(text), text);
  EXPECT_TRUE(IsForeignAllocation(text));
  EXPECT_EQ(NameOf(text).id, Host().intern("registered", 10));
  EXPECT_EQ(NameOf(text).text, "registered");
  // Inside of it, before it and elsewhere there is no handle.
  const char* const bytes = reinterpret_cast<const char*>(text);
  EXPECT_EQ(FindForeignText(bytes + 16), nullptr);
  EXPECT_EQ(FindForeignText(bytes + 1), nullptr);
  EXPECT_FALSE(IsForeignAllocation(bytes + 8));
  const char* const tables =
      reinterpret_cast<const char*>(foreign_tables.load());
  EXPECT_FALSE(IsForeignAllocation(tables));
  EXPECT_FALSE(IsForeignAllocation(tables + sizeof(ForeignTables) - 16));
  EXPECT_TRUE(
      IsForeignAllocation(tables + (sizeof(ForeignTables) + 15) / 16 * 16));
  constexpr size_t kRegion = size_t{64} << 20;
  EXPECT_TRUE(IsForeignAllocation(tables + kRegion - 80));
  EXPECT_FALSE(IsForeignAllocation(tables + kRegion - 64));
  EXPECT_FALSE(IsForeignAllocation(nullptr));
  EXPECT_EQ(FindForeignText(&kDomainA), nullptr);
  const std::string fits(kMaxForeignTextBytes, 'x');
  EXPECT_NE(AddForeignText(fits), nullptr);
  EXPECT_EQ(AddForeignText(fits + "x"), nullptr);
  Stop();
}

TEST_F(ForeignNamesTest, APointerWhoseTextKeepsChangingIsGivenUp) {
  char buffer[32];
  const auto name_of = [&buffer](uint32_t i) {
    snprintf(buffer, sizeof(buffer), "message %u", i);
    return NameOf(buffer);
  };
  for (uint32_t i = 0; i < kMaxTextChanges; ++i) {
    ASSERT_NE(name_of(i).id, kNameInPayload) << i;
    ASSERT_EQ(NameOf(buffer).text, buffer);
  }
  const uint32_t passing = foreign_tables.load()->passing.load();
  const ForeignName later = name_of(kMaxTextChanges);
  EXPECT_EQ(later.id, kNameInPayload);
  EXPECT_EQ(later.text, buffer);
  EXPECT_EQ(foreign_tables.load()->passing.load(), passing);
  // Another pointer begins anew.
  const std::string other = "other";
  EXPECT_NE(NameOf(other.c_str()).id, kNameInPayload);
  EXPECT_EQ(foreign_tables.load()->passing.load(), passing + 1);
  Stop();
}

TEST_F(ForeignNamesTest, PassingTextsHaveALimitAndRegisteredOnesDoNot) {
  ForeignTables* const tables = [] {
    AddForeignText("");
    return foreign_tables.load();
  }();
  const uint32_t passing = tables->passing.load();
  tables->passing.store(kMaxPassingForeignTexts - 1);
  EXPECT_NE(AddForeignText("last", ForeignUse::kPassing), nullptr);
  EXPECT_EQ(AddForeignText("one more", ForeignUse::kPassing), nullptr);
  EXPECT_NE(AddForeignText("last", ForeignUse::kPassing), nullptr) << "known";
  EXPECT_NE(AddForeignText("registered too"), nullptr);
  EXPECT_EQ(tables->passing.load(), kMaxPassingForeignTexts);
  tables->passing.store(passing);
  // Half of the 64 MiB is for texts that are registered.
  const uint64_t used = tables->used.load();
  tables->used.store(uint64_t{32} << 20);
  EXPECT_NE(AddForeignText("half", ForeignUse::kPassing), nullptr);
  EXPECT_EQ(AddForeignText("more than half", ForeignUse::kPassing), nullptr);
  EXPECT_NE(AddForeignText("more than half"), nullptr);
  // The end: 16 bytes are the least.
  const uint64_t room =
      (uint64_t{64} << 20) - (sizeof(ForeignTables) + 15) / 16 * 16;
  tables->used.store(room - 16);
  EXPECT_EQ(AllocateForeign(17), nullptr);
  tables->used.store(room - 16);
  EXPECT_NE(AllocateForeign(16), nullptr);
  EXPECT_EQ(AllocateForeign(1), nullptr);
  EXPECT_EQ(AddForeignText("no room"), nullptr);
  tables->used.store(used + (uint64_t{1} << 20));  // behind what was made here
  Stop();
}

TEST_F(ForeignNamesTest, WithoutMemoryTheTextGoesAlong) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  Stop();
  GTEST_SKIP() << "sanitizers end a program that has no memory left";
#endif
  // In a child: limits cannot be raised again.
  const pid_t child = fork();
  if (child == 0) {
    foreign_tables.store(nullptr);
    const rlimit none = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    setrlimit(RLIMIT_AS, &none);  // no room for the tables
    const ForeignName name = NameOf("text");
    const bool ok = AddForeignText("text") == nullptr &&
                    AllocateForeign(16) == nullptr &&
                    name.id == kNameInPayload && name.text == "text";
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Stop();
}

TEST_F(ForeignNamesTest, WhereTheTableOfNamesIsFullTheTextGoesAlong) {
  ArenaHeader& header = ProcessArena()->header();
  const uint64_t used = header.name_text_used.load();
  header.name_text_used.store(~uint64_t{7});
  ForeignText* const text = AddForeignText("finds no room");
  EXPECT_EQ(NameOf(text).id, kNameInPayload);
  EXPECT_EQ(NameOf(text).text, "finds no room");
  header.name_text_used.store(used);
  Stop();
}

// The Unicode Standard, table 3-6.
TEST_F(ForeignNamesTest, WideTextsBecomeUtf8) {
  const auto utf8 = [](const wchar_t* text, size_t size = 100) {
    std::string to(100, '?');
    to.resize(Utf8OfWide(text, to.data(), size));
    return to;
  };
  EXPECT_EQ(utf8(L""), "");
  EXPECT_EQ(utf8(L"az\x7f"), "az\x7f");
  EXPECT_EQ(utf8(L"\x80\x7ff"), "\xc2\x80\xdf\xbf");
  EXPECT_EQ(utf8(L"\x800\xffff"), "\xe0\xa0\x80\xef\xbf\xbf");
  EXPECT_EQ(utf8(L"\x10000\x10ffff"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  // No code points: each becomes U+FFFD.
  const wchar_t wrong[] = {
      static_cast<wchar_t>(0x110000), 0xd800, 0xdfff, 0xd7ff, 0xe000, 0};
  EXPECT_EQ(utf8(wrong),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xed\x9f\xbf\xee\x80\x80");
  EXPECT_EQ(TruncatedHere(), 0u);
  EXPECT_EQ(utf8(L"ab\x80", 4), "ab\xc2\x80");
  EXPECT_EQ(TruncatedHere(), 0u);
  EXPECT_EQ(utf8(L"ab\x80 c", 3), "ab");
  EXPECT_EQ(TruncatedHere(), 1u);
  Stop();
}

}  // namespace
}  // namespace kymo::record
