// Tests which thread records for which session, at the level of chunks.
//
// Long, because sessions and threads meet in many orders.
#include "profiler/record/host/sessions.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/host.h"
#include "profiler/record/host/threads_outside.h"
#include "profiler/record/range.h"

namespace kymo::record {
namespace {

void Record(Literal name) {
  if ((GateBits() & kGateOn) == 0) return;
  OpenRange range;
  BeginRange(range, name, RecordScope::kFunction);
  EndRange(range);
}

// When the last session started. A chunk that a thread has kept since an
// earlier session begins with records of that session.
thread_local uint64_t started_ticks = 0;

SessionId Start(SessionScope scope) {
  SessionId id = kNoSession;
  started_ticks = ReadTicks(DetectClockSource());
  EXPECT_EQ(StartSession({.scope = scope}, &id), 0);
  return id;
}

// How often a session has each name; hands its chunks on.
std::map<std::string, int> Read(const SessionChunks& chunks, uint64_t begin) {
  const SessionId id = chunks.session;
  std::map<std::string, int> counts;
  ChunkReader reader(*ProcessArena());
  reader.ReadSession(chunks, [&](const ChunkView& view) {
    ForEachRecord(view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
      if (UnpackKind(head.kind_scope_depth) == SlotKind::kRange &&
          head.begin.load() >= begin && head.begin.load() < chunks.end_ticks) {
        ++counts[std::string(ProcessArena()->NameText(head.name))];
      }
    });
  });
  reader.Release(chunks, /*collector_records=*/false);
  EXPECT_EQ(ReleaseSession(id), 0);
  return counts;
}

std::map<std::string, int> Read(SessionId id) {
  return Read({.session = id, .pid = getpid()}, started_ticks);
}

std::map<std::string, int> StopAndRead(SessionId id) {
  EXPECT_EQ(StopSession(id), 0);
  return Read(id);
}

class SessionsTest : public testing::Test {
 protected:
  // The first use decides on a host.
  void SetUp() override { (void)Host(); }
};

TEST_F(SessionsTest, ThreadSessionRecordsItsThreadOnly) {
  const SessionId id = Start(SessionScope::kThread);
  Record("mine");
  std::thread([] { Record("others"); }).join();
  Record("mine");
  EXPECT_EQ(StopAndRead(id), (std::map<std::string, int>{{"mine", 2}}));
}

TEST_F(SessionsTest, CountsEachThreadThatItLeavesOutOnce) {
  Record("nobody listens");
  const SessionId id = Start(SessionScope::kThread);
  Record("mine");
  EXPECT_EQ(ThreadsOutside(id), 0u);
  const auto record_twice = [] {
    Record("others");
    Record("others");
  };
  std::thread(record_twice).join();
  std::thread([] {}).join();
  EXPECT_EQ(ThreadsOutside(id), 1u);
  SessionId second = kNoSession;
  std::thread([&] {
    record_twice();  // in no session yet
    second = Start(SessionScope::kThread);
    record_twice();
    std::thread(record_twice).join();
    EXPECT_EQ(StopSession(second), 0);
  }).join();
  EXPECT_EQ(StopSession(id), 0);
  std::thread(record_twice).join();
  EXPECT_EQ(ThreadsOutside(id), 3u);
  EXPECT_EQ(ThreadsOutside(second), 1u);
  Read(second);
  EXPECT_EQ(ThreadsOutside(second), 0u);
  Read(id);
}

TEST_F(SessionsTest, IsNotOutsideWhereItEndsARangeOfAnEarlierSession) {
  const SessionId earlier = Start(SessionScope::kThread);
  OpenRange range;
  BeginRange(range, "open", RecordScope::kFunction);
  EXPECT_EQ(StopSession(earlier), 0);
  const SessionId id = Start(SessionScope::kThread);
  Record("mine");
  EndRange(range);
  EXPECT_EQ(StopSession(id), 0);
  EXPECT_EQ(ThreadsOutside(id), 0u);
  EXPECT_EQ(Read(id), (std::map<std::string, int>{{"mine", 1}}));
  Read(earlier);
}

TEST_F(SessionsTest, ProcessSessionRecordsEveryThread) {
  const SessionId id = Start(SessionScope::kProcess);
  Record("main");
  std::thread([] { Record("worker"); }).join();
  EXPECT_EQ(StopAndRead(id),
            (std::map<std::string, int>{{"main", 1}, {"worker", 1}}));
}

TEST_F(SessionsTest, ThreadJoinsAndLeavesASession) {
  const SessionId id = Start(SessionScope::kThread);
  std::thread([id] {
    Record("before");
    EXPECT_EQ(ExchangeThreadSession(id), kNoSession);
    Record("inside");
    EXPECT_EQ(ThreadSession(), id);
    EXPECT_EQ(ExchangeThreadSession(kNoSession), id);
    Record("after");
  }).join();
  EXPECT_EQ(StopAndRead(id), (std::map<std::string, int>{{"inside", 1}}));
}

TEST_F(SessionsTest, JoiningManyTimesTakesNoFurtherChunk) {
  const SessionId id = Start(SessionScope::kThread);
  std::thread([id] {
    for (int i = 0; i < 1000; ++i) {
      ExchangeThreadSession(id);
      Record("inside");
      ExchangeThreadSession(kNoSession);
      Record("outside");
    }
  }).join();
  size_t chunks = 0;
  EXPECT_EQ(StopSession(id), 0);
  ChunkReader(*ProcessArena())
      .ReadSession({.session = id, .pid = getpid()},
                   [&](const ChunkView&) { ++chunks; });
  EXPECT_EQ(chunks, 1);
  EXPECT_EQ(Read(id), (std::map<std::string, int>{{"inside", 1000}}));
}

TEST_F(SessionsTest, SeveralThreadsHaveSessionsOfTheirOwn) {
  const SessionId id = Start(SessionScope::kThread);
  Record("first");
  std::thread([] {
    const SessionId other = Start(SessionScope::kThread);
    Record("second");
    EXPECT_EQ(StopAndRead(other), (std::map<std::string, int>{{"second", 1}}));
  }).join();
  EXPECT_EQ(StopAndRead(id), (std::map<std::string, int>{{"first", 1}}));
}

TEST_F(SessionsTest, OneThatStartsLeavesWhatAnotherHasToRead) {
  constexpr int kRanges = 3 * static_cast<int>(kSlotsPerChunk);
  const SessionId id = Start(SessionScope::kThread);
  for (int i = 0; i < kRanges; ++i) Record("first");
  EXPECT_EQ(StopSession(id), 0);
  EXPECT_EQ(ReleaseSession(kNoSession), EINVAL);
  std::thread([] {
    const SessionId other = Start(SessionScope::kThread);
    Record("second");
    EXPECT_EQ(ReleaseSession(other), EINVAL) << "it is live";
    EXPECT_EQ(StopAndRead(other), (std::map<std::string, int>{{"second", 1}}));
  }).join();
  EXPECT_EQ(Read(id), (std::map<std::string, int>{{"first", kRanges}}));
  EXPECT_EQ(ReleaseSession(id), EINVAL) << "it is released already";
}

// Threads go on in the chunks that they have. So two sessions of all threads
// have one, until the first of them has read it.
TEST_F(SessionsTest, SessionsOfAllThreadsLeaveEachOtherTheirRecords) {
  for (const bool first_reads_first : {true, false}) {
    for (const int ranges : {1, 3 * static_cast<int>(kSlotsPerChunk)}) {
      std::map<std::string, int> expected_first, expected_second;
      expected_first["first"] = expected_second["second"] = ranges;
      SessionChunks first = {.pid = getpid(), .all_threads = true};
      SessionChunks second = first;
      first.session = Start(SessionScope::kProcess);
      const uint64_t first_begin = started_ticks;
      for (int i = 0; i < ranges; ++i) Record("first");
      EXPECT_EQ(StopSession(first.session), 0);
      first.end_ticks = ReadTicks(DetectClockSource());
      second.session = Start(SessionScope::kProcess);
      const uint64_t second_begin = started_ticks;
      for (int i = 0; i < ranges; ++i) Record("second");
      if (first_reads_first) {
        EXPECT_EQ(Read(first, first_begin), expected_first);
      }
      EXPECT_EQ(StopSession(second.session), 0);
      EXPECT_EQ(Read(second, second_begin), expected_second);
      if (!first_reads_first) {
        EXPECT_EQ(Read(first, first_begin), expected_first);
      }
    }
  }
}

// The second one has records in a chunk of the first one, which is over. The
// third one starts and is read while the second one waits.
TEST_F(SessionsTest, ASessionOfAllThreadsLeavesRecordsToOneThatWaits) {
  constexpr int kRanges = 3 * static_cast<int>(kSlotsPerChunk) / 2;
  SessionChunks sessions[3];
  uint64_t begins[3];
  const char* const names[] = {"first", "second", "third"};
  const auto expected = [&](int i) {
    return std::map<std::string, int>{{names[i], kRanges}};
  };
  const auto start = [&](int i) {
    sessions[i] = {.session = Start(SessionScope::kProcess),
                   .pid = getpid(),
                   .all_threads = true};
    begins[i] = started_ticks;
  };
  const auto stop = [&](int i) {
    EXPECT_EQ(StopSession(sessions[i].session), 0);
    sessions[i].end_ticks = ReadTicks(DetectClockSource());
  };
  start(0);
  for (int i = 0; i < kRanges; ++i) Record("first");
  stop(0);
  start(1);
  for (int i = 0; i < kRanges; ++i) Record("second");
  EXPECT_EQ(Read(sessions[0], begins[0]), expected(0));
  stop(1);
  start(2);
  for (int i = 0; i < kRanges; ++i) Record("third");
  stop(2);
  EXPECT_EQ(Read(sessions[2], begins[2]), expected(2));
  EXPECT_EQ(Read(sessions[1], begins[1]), expected(1));
}

TEST_F(SessionsTest, RefusesASecondSession) {
  const SessionId id = Start(SessionScope::kThread);
  SessionId other = kNoSession;
  EXPECT_EQ(StartSession({.scope = SessionScope::kThread}, &other), EALREADY);
  EXPECT_EQ(StartSession({.scope = SessionScope::kProcess}, &other), EALREADY);
  std::thread([&] {
    EXPECT_EQ(StartSession({.scope = SessionScope::kProcess}, &other), EBUSY);
  }).join();
  StopAndRead(id);
  const SessionId process = Start(SessionScope::kProcess);
  EXPECT_EQ(StartSession({.scope = SessionScope::kThread}, &other), EBUSY);
  StopAndRead(process);
  EXPECT_EQ(StopSession(process), EINVAL);
}

TEST_F(SessionsTest, EndOnAThreadOutsideIsTheSessions) {
  const SessionId id = Start(SessionScope::kThread);
  OpenRange range;
  BeginRange(range, "crosses", RecordScope::kFunction);
  std::thread([&] { EndRange(range); }).join();
  EXPECT_EQ(StopSession(id), 0);
  int ends = 0;
  ChunkReader(*ProcessArena())
      .ReadSession(
          {.session = id, .pid = getpid()}, [&](const ChunkView& view) {
            ForEachRecord(
                view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
                  ends += UnpackKind(head.kind_scope_depth) == SlotKind::kEnd;
                });
          });
  EXPECT_EQ(ends, 1);
  Read(id);
}

TEST_F(SessionsTest, PausedThreadRecordsNothingAndStillEndsRanges) {
  const SessionId id = Start(SessionScope::kThread);
  OpenRange range;
  BeginRange(range, "open", RecordScope::kFunction);
  SetThreadPaused(true);
  Record("paused");
  Slot* const slot = range.slot;
  EndRange(range);
  EXPECT_NE(slot->end.load(), 0);
  SetThreadPaused(false);
  Record("again");
  EXPECT_EQ(StopAndRead(id),
            (std::map<std::string, int>{{"open", 1}, {"again", 1}}));
}

TEST_F(SessionsTest, LateRecordsOfAThreadThatStayedAreNobodys) {
  const SessionId id = Start(SessionScope::kThread);
  StopSession(id);
  const SessionId next = Start(SessionScope::kThread);
  std::thread([id] {
    ExchangeThreadSession(id);  // over already
    Record("late");
  }).join();
  EXPECT_EQ(StopAndRead(next), (std::map<std::string, int>{}));
}

TEST_F(SessionsTest, ManySessionsTakeNoMemory) {
  uint32_t high_water = 0;
  for (int i = 0; i < 2000; ++i) {
    const SessionId id =
        Start(i % 2 == 0 ? SessionScope::kThread : SessionScope::kProcess);
    Record("range");
    std::thread([id] {
      ExchangeThreadSession(id);
      Record("range");
    }).join();
    EXPECT_EQ(StopAndRead(id), (std::map<std::string, int>{{"range", 2}}));
    if (i == 10) high_water = ProcessArena()->high_water();
  }
  EXPECT_EQ(ProcessArena()->high_water(), high_water);
}

pthread_key_t last_key;

void RecordInEveryRound(void* value) {
  Record("late");
  pthread_setspecific(last_key, value);
}

TEST_F(SessionsTest, ThreadsThatRecordAfterTheirLastExitHandlerTakeNoMemory) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "NOT TESTED HERE: ThreadSanitizer forgets a thread before "
                  "its last exit handler, and crashes in code that runs then";
#endif
  // The handlers of later keys run after those of earlier ones, in each of
  // PTHREAD_DESTRUCTOR_ITERATIONS rounds. So this one records when the thread's
  // stream has ended, and at the very end.
  ASSERT_EQ(pthread_key_create(&last_key, RecordInEveryRound), 0);
  uint32_t high_water = 0;
  for (int i = 0; i < 100; ++i) {
    const SessionId id = Start(SessionScope::kProcess);
    std::thread([] { pthread_setspecific(last_key, &last_key); }).join();
    EXPECT_EQ(
        StopAndRead(id),
        (std::map<std::string, int>{{"late", PTHREAD_DESTRUCTOR_ITERATIONS}}));
    if (i == 10) high_water = ProcessArena()->high_water();
  }
  EXPECT_EQ(ProcessArena()->high_water(), high_water);
  pthread_key_delete(last_key);
}

// A thread that records in each round of its exit handlers, and in the last one
// once more when it may end.
struct LateThread {
  std::atomic<bool> may_end;
  std::atomic<bool> is_late = false;
  int rounds = 0;
};

void RecordAndWaitInTheLastRound(void* value) {
  LateThread& thread = *static_cast<LateThread*>(value);
  Record("late");
  if (++thread.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(last_key, value);
    return;
  }
  thread.is_late = true;
  while (!thread.may_end) usleep(100);
  Record("late");
}

TEST_F(SessionsTest, AThreadInItsLastExitHandlerKeepsWhatItRecordsTo) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "NOT TESTED HERE: see above";
#endif
  ASSERT_EQ(pthread_key_create(&last_key, RecordAndWaitInTheLastRound), 0);
  const SessionId id = Start(SessionScope::kProcess);
  LateThread waiting = {.may_end = false};
  std::thread thread([&] { pthread_setspecific(last_key, &waiting); });
  while (!waiting.is_late) usleep(100);
  // Each of these looks which late threads are gone: those before it are.
  for (int i = 0; i < 3; ++i) {
    LateThread at_once = {.may_end = true};
    std::thread([&] { pthread_setspecific(last_key, &at_once); }).join();
  }
  waiting.may_end = true;
  thread.join();
  EXPECT_EQ(StopAndRead(id),
            (std::map<std::string, int>{
                {"late", 4 * (PTHREAD_DESTRUCTOR_ITERATIONS + 1)}}));
  pthread_key_delete(last_key);
}

// The name that somebody gave the newest stream of a thread; empty: nobody.
std::string NameOfThread(int32_t tid) {
  const Arena& arena = *ProcessArena();
  for (uint32_t id = arena.stream_count(); id-- > 0;) {
    const StreamEntry& entry = arena.stream(id);
    if (entry.tid.load() != tid) continue;
    const uint64_t name = entry.explicit_name.load();
    return name == 0
               ? ""
               : std::string(arena.NameText(static_cast<uint32_t>(name - 1)));
  }
  return "no stream";
}

TEST_F(SessionsTest, AThreadHasTheNameThatItWasGivenLast) {
  const SessionId id = Start(SessionScope::kProcess);
  const auto set_own = [](std::string_view name) {
    Host().set_thread_name(name.data(), name.size());
  };
  // Runs `before` and `after` around a thread's first record.
  const auto name_of = [](auto before, auto after) {
    std::string name;
    std::thread([&] {
      before(gettid());
      Record("range");
      after(gettid());
      name = NameOfThread(gettid());
    }).join();
    return name;
  };
  const auto nothing = [](int32_t) {};
  const auto own = [&](int32_t) { set_own("own"); };
  const auto other = [](int32_t tid) {
    std::thread([tid] { Host().name_thread(tid, "other", 5); }).join();
  };
  EXPECT_EQ(name_of(nothing, nothing), "");
  EXPECT_EQ(name_of(own, nothing), "own");
  EXPECT_EQ(name_of(nothing, own), "own");
  EXPECT_EQ(name_of(other, nothing), "other");
  EXPECT_EQ(name_of(nothing, other), "other");
  EXPECT_EQ(name_of(own, other), "other");
  EXPECT_EQ(name_of(other, own), "own");
  const uint64_t before = ProcessArena()->header().texts_truncated.load();
  EXPECT_EQ(name_of([&](int32_t) { set_own(std::string(64, 'x')); }, nothing),
            std::string(64, 'x'));
  EXPECT_EQ(ProcessArena()->header().texts_truncated.load(), before);
  EXPECT_EQ(name_of([&](int32_t) { set_own(std::string(65, 'x')); }, nothing),
            std::string(64, 'x'));
  EXPECT_EQ(ProcessArena()->header().texts_truncated.load(), before + 1);
  StopAndRead(id);
}

TEST_F(SessionsTest, ForkedChildIsInNoSession) {
  const SessionId id = Start(SessionScope::kProcess);
  Record("parent");
  const pid_t child = fork();
  if (child == 0) {
    const bool on = (GateBits() & kGateOn) != 0;
    SessionId own = kNoSession;
    const bool starts = StartSession({}, &own) == 0;
    _exit(!on && starts ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(StopAndRead(id), (std::map<std::string, int>{{"parent", 1}}));
}

// It would copy their pages in order to free them.
TEST_F(SessionsTest, ASessionOfAForkedChildReusesNoChunksOfItsParent) {
  const SessionId id = Start(SessionScope::kProcess);
  constexpr int kRecorded = 4 * kSlotsPerChunk;
  for (int i = 0; i < kRecorded; ++i) Record("parent");
  ASSERT_GE(ProcessArena()->high_water(), 4u);
  const pid_t child = fork();
  if (child == 0) {
    const SessionId own = Start(SessionScope::kProcess);
    Record("child");
    const bool is_new = ProcessArena()->high_water() == 1;
    const auto read = StopAndRead(own);
    _exit(is_new && read == std::map<std::string, int>{{"child", 1}} ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(StopAndRead(id),
            (std::map<std::string, int>{{"parent", kRecorded}}));
}

TEST_F(SessionsTest, GatesSayWhatSessionsWant) {
  SessionId id = kNoSession;
  ASSERT_EQ(StartSession({.flags = kGateInputs | kGateStacks}, &id), 0);
  EXPECT_EQ(GateBits(), kGateOn | kGateInputs | kGateStacks);
  EXPECT_EQ(SetSessionEnabled(id, false), 0);
  EXPECT_EQ(GateBits(), kGateOff);
  SetObserved(true);
  EXPECT_EQ(SetSessionEnabled(id, true), 0);
  EXPECT_EQ(GateBits(), kGateOn | kGateInputs | kGateStacks | kGateObserved);
  SetObserved(false);
  StopAndRead(id);
  EXPECT_EQ(GateBits(), kGateOff);
}

TEST_F(SessionsTest, ANodeIdSetsTheGateOnlyWhileSomebodyRecords) {
  EXPECT_EQ(NodeId(), -1);
  SetNodeId(0);
  EXPECT_EQ(NodeId(), 0);
  EXPECT_EQ(GateBits(), kGateOff);
  const SessionId id = Start(SessionScope::kProcess);
  EXPECT_EQ(GateBits(), kGateOn | kGateNode);
  SetNodeId(-1);
  EXPECT_EQ(GateBits(), kGateOn);
  SetNodeId(7);
  EXPECT_EQ(GateBits(), kGateOn | kGateNode);
  StopAndRead(id);
  EXPECT_EQ(GateBits(), kGateOff);
  SetNodeId(-1);
}

TEST_F(SessionsTest, LogicalThreadsCountFromTheFirstThatAsks) {
  const uint64_t mine = LogicalThreadId();
  EXPECT_EQ(LogicalThreadId(), mine);
  uint64_t other = 0;
  std::thread([&] { other = LogicalThreadId(); }).join();
  EXPECT_GT(other, mine);
}

TEST_F(SessionsTest, CopiesThatFindNoPlaceRecordNothingAndAreCounted) {
  constexpr size_t kCopies = 20;
  constexpr size_t kPlaces = std::extent_v<decltype(ThreadStream::caches)>;
  static_assert(kPlaces < kCopies);
  const SessionId id = Start(SessionScope::kProcess);
  const std::atomic<uint64_t>& lost =
      ProcessArena()->header().events_without_stream;
  const uint64_t before = lost.load();
  ThreadStream* caches[kCopies] = {};
  std::thread([&caches] {
    for (size_t i = 0; i < kCopies; ++i) {
      EXPECT_EQ(Host().take_slots(&caches[i], 1) != nullptr, i < kPlaces);
      EXPECT_EQ(caches[i] != nullptr, i < kPlaces);
    }
  }).join();
  // The thread's stream now belongs to another thread.
  for (const ThreadStream* cache : caches) EXPECT_EQ(cache, nullptr);
  EXPECT_EQ(lost.load() - before, kCopies - kPlaces);
  StopAndRead(id);
}

// The preloaded runtime's function, which comes first, must not be replaced by
// that of a program.
TEST_F(SessionsTest, TheFirstStackCaptureStays) {
  constexpr StackCapture kFirst =
      [](const void*, uint64_t*, uint64_t) noexcept -> uint64_t { return 1; };
  constexpr StackCapture kSecond =
      [](const void*, uint64_t*, uint64_t) noexcept -> uint64_t { return 2; };
  const auto captured = [] {
    return Host().capture_stack(nullptr, nullptr, 0);
  };
  EXPECT_EQ(captured(), 0u);
  SetStackCapture(kFirst);
  SetStackCapture(kSecond);
  EXPECT_EQ(captured(), 1u);
  SetStackCapture(nullptr);
  EXPECT_EQ(captured(), 0u);
  SetStackCapture(kSecond);
  EXPECT_EQ(captured(), 2u);
  SetStackCapture(nullptr);
}

}  // namespace
}  // namespace kymo::record
