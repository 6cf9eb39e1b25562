// A thread that records while another one is choosing the host of its copy.
//
// The program exports a host, as the preloaded runtime does. It is the
// program's own, but it intercepts the moment at which the host gets to know
// the copy's gate. There a second thread records its first range.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/host.h"
#include "profiler/record/range.h"

namespace kymo::record {
namespace {

void Record(Literal name) {
  if (!IsRecording()) return;
  OpenRange range;
  BeginRange(range, name, RecordScope::kFunction);
  EndRange(range);
}

std::atomic<int> gates_added = 0;

void AddGateWhileAnotherRecords(Gate* added) noexcept {
  if (gates_added.fetch_add(1) == 0) {
    std::thread([] { Record("second"); }).join();
  }
  OwnHost()->add_gate(added);
}

std::map<std::string, int> Read(SessionId id) {
  std::map<std::string, int> counts;
  ChunkReader(*ProcessArena())
      .ReadSession(
          {.session = id, .pid = getpid()}, [&](const ChunkView& view) {
            ForEachRecord(
                view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
                  ++counts[std::string(ProcessArena()->NameText(head.name))];
                });
          });
  return counts;
}

TEST(HostChoiceTest, NoRangeIsLostWhileAnotherThreadChooses) {
  SessionId id = kNoSession;
  const SessionRequest request = {.scope = SessionScope::kProcess};
  // Not through this copy, which must choose when it first records.
  ASSERT_EQ(OwnHost()->start_session(&request, &id), 0);
  Record("first");
  EXPECT_EQ(gates_added.load(), 2);
  EXPECT_EQ(Read(id),
            (std::map<std::string, int>{{"first", 1}, {"second", 1}}));
  EXPECT_EQ(StopSession(id), 0);
}

}  // namespace
}  // namespace kymo::record

extern "C" __attribute__((visibility("default"))) const kymo::record::HostApi*
kymo_host_v1() {
  static const kymo::record::HostApi host = [] {
    kymo::record::HostApi api = *kymo::record::OwnHost();
    api.add_gate = kymo::record::AddGateWhileAnotherRecords;
    return api;
  }();
  return &host;
}
