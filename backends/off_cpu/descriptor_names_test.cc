#include "backends/off_cpu/descriptor_names.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "backends/off_cpu/wait_log.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// Waits of this thread, as if somebody had seen them.
class DescriptorNamesTest : public ::testing::Test {
 protected:
  DescriptorNamesTest() {
    EXPECT_EQ(pipe(pipe_), 0);
    names_.Search();  // gives it reads
  }
  ~DescriptorNamesTest() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }

  WaitCause Of(int descriptor, const DescriptorUse& use = {},
               WaitKind kind = WaitKind::kRead) {
    WaitCause cause = {.kind = kind,
                       .object = static_cast<uint64_t>(descriptor)};
    names_.Set(self_, use, cause);
    return cause;
  }
  WaitCause OfPolled(std::vector<int32_t> descriptors) {
    WaitCause cause = {.kind = WaitKind::kPoll};
    names_.SetPolled(
        self_, {}, {.count = descriptors.size(), .first = descriptors}, cause);
    return cause;
  }
  // The name in results.
  std::string Text(const WaitCause& cause) {
    names_.Finish();
    log_.OnCause(1, 5, cause);
    log_.OnWait({.thread = {1, 1}, .begin_ns = 4, .end_ns = 4 + kNsPerSecond});
    model::TraceShard shard;
    model::ThreadStates states;
    log_.Collect([](const ThreadKey&) { return model::TrackIndex{0}; },
                 std::vector<model::StackId>(1), shard, states);
    return std::string(shard.strings.Get(states.waits.at(0).object_name));
  }
  static DescriptorUse Noted(int descriptor) {
    struct stat status = {};
    EXPECT_EQ(fstat(descriptor, &status), 0);
    return {.is_noted = true, .inode = status.st_ino, .mode = status.st_mode};
  }
  // The descriptor is something else from now on.
  static void Replace(int descriptor, int by) {
    ASSERT_EQ(dup2(by, descriptor), descriptor);
  }

  const ThreadKey self_ = {static_cast<uint32_t>(getpid()),
                           static_cast<uint32_t>(gettid())};
  WaitLog log_;
  DescriptorNames names_{&log_};
  int pipe_[2];
};

TEST_F(DescriptorNamesTest, APipeHasTheProcessAtItsOtherEnd) {
  const WaitCause cause = Of(pipe_[0]);
  EXPECT_EQ(cause.kind, WaitKind::kPipe);
  EXPECT_EQ(Text(cause), "pipe from itself");
}

TEST_F(DescriptorNamesTest, TheOtherSideOfThePipeIsNotTheSameObject) {
  const WaitCause reads = Of(pipe_[0]);
  const WaitCause writes = Of(pipe_[1], {}, WaitKind::kWrite);
  EXPECT_NE(reads.object_name, writes.object_name);
  EXPECT_EQ(Text(writes), "pipe to itself");
}

TEST_F(DescriptorNamesTest, KindsOfTheKernelHaveTheirNames) {
  const int event = eventfd(0, 0);
  EXPECT_EQ(Text(Of(event)), "eventfd");
  close(event);
}

TEST_F(DescriptorNamesTest, EpollSaysWhichDescriptorsItHas) {
  const int epoll = epoll_create1(0);
  epoll_event event = {.events = EPOLLIN, .data = {}};
  ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_[0], &event), 0);
  EXPECT_EQ(Text(Of(epoll, {}, WaitKind::kPoll)),
            "epoll of 1 descriptor: " + std::to_string(pipe_[0]) + " pipe");
  close(epoll);
}

TEST_F(DescriptorNamesTest, AnEpollWithASocketThatListensSaysSo) {
  const int epoll = epoll_create1(0);
  epoll_event event = {.events = EPOLLIN, .data = {}};
  std::vector<int> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(eventfd(0, 0));
    ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, events.back(), &event), 0);
  }
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(listen(server, 1), 0);
  ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event), 0);
  EXPECT_TRUE(Text(Of(epoll, {}, WaitKind::kPoll))
                  .starts_with("epoll of 4 descriptors, among them " +
                               std::to_string(server) +
                               " tcp listening on 0.0.0.0:"));
  for (const int descriptor : events) close(descriptor);
  close(server);
  close(epoll);
}

TEST_F(DescriptorNamesTest, AnEpollThatHasOnlyTimersIsASleep) {
  const int epoll = epoll_create1(0);
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  epoll_event event = {.events = EPOLLIN, .data = {}};
  ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event), 0);
  const WaitCause cause = Of(epoll, {}, WaitKind::kPoll);
  EXPECT_EQ(cause.kind, WaitKind::kSleep);
  EXPECT_EQ(Text(cause),
            "epoll of 1 descriptor: " + std::to_string(timer) + " timerfd");
  // Another one, since what an epoll has is known for a while.
  const int both = epoll_create1(0);
  ASSERT_EQ(epoll_ctl(both, EPOLL_CTL_ADD, timer, &event), 0);
  ASSERT_EQ(epoll_ctl(both, EPOLL_CTL_ADD, pipe_[0], &event), 0);
  EXPECT_EQ(Of(both, {}, WaitKind::kPoll).kind, WaitKind::kPoll);
  for (const int descriptor : {both, timer, epoll}) close(descriptor);
}

TEST_F(DescriptorNamesTest, APollOfTimersAloneIsASleep) {
  const auto kind_of = [&](std::vector<int32_t> descriptors) {
    WaitCause cause = {.kind = WaitKind::kPoll};
    names_.SetPolled(
        self_, {}, {.count = descriptors.size(), .first = descriptors}, cause);
    return cause.kind;
  };
  const int one = timerfd_create(CLOCK_MONOTONIC, 0);
  const int other = timerfd_create(CLOCK_MONOTONIC, 0);
  EXPECT_EQ(kind_of({one, other}), WaitKind::kSleep);
  EXPECT_EQ(kind_of({one, other, pipe_[0]}), WaitKind::kPoll);
  EXPECT_EQ(kind_of({}), WaitKind::kSleep);
  for (const int descriptor : {one, other}) close(descriptor);
}

TEST_F(DescriptorNamesTest, OfManyDescriptorsAnEpollHasTheNumber) {
  const int epoll = epoll_create1(0);
  epoll_event event = {.events = EPOLLIN, .data = {}};
  std::vector<int> events;
  for (int i = 0; i < 5; ++i) {
    events.push_back(eventfd(0, 0));
    ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, events.back(), &event), 0);
  }
  EXPECT_EQ(Text(Of(epoll, {}, WaitKind::kPoll)), "epoll of 5 descriptors");
  for (const int descriptor : events) close(descriptor);
  close(epoll);
}

TEST_F(DescriptorNamesTest, APollOfOneDescriptorWaitsForThat) {
  const WaitCause cause = OfPolled({pipe_[0]});
  EXPECT_EQ(cause.object, static_cast<uint64_t>(pipe_[0]));
  EXPECT_EQ(cause.kind, WaitKind::kPoll);
  EXPECT_EQ(Text(cause), "pipe from itself");
}

TEST_F(DescriptorNamesTest, APollOfSeveralSaysWhich) {
  const int event = eventfd(0, 0);
  const WaitCause cause = OfPolled({pipe_[0], event});
  EXPECT_EQ(cause.object, 0u);
  EXPECT_EQ(Text(cause), "2 descriptors: " + std::to_string(pipe_[0]) +
                             " pipe, " + std::to_string(event) + " eventfd");
  close(event);
  EXPECT_EQ(log_.Name("4 descriptors"), OfPolled({4, 5, 6, 7}).object_name);
}

TEST_F(DescriptorNamesTest, APollOfManySaysWhichOneListens) {
  std::vector<int32_t> descriptors;
  for (int i = 0; i < 4; ++i) descriptors.push_back(eventfd(0, 0));
  EXPECT_EQ(log_.Name("4 descriptors"), OfPolled(descriptors).object_name);
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(listen(server, 1), 0);
  descriptors.push_back(server);
  EXPECT_TRUE(Text(OfPolled(descriptors))
                  .starts_with("5 descriptors, among them " +
                               std::to_string(server) +
                               " tcp listening on 0.0.0.0:"));
  for (const int descriptor : descriptors) close(descriptor);
}

// --- a wait that may be over ---

TEST_F(DescriptorNamesTest, AClosedDescriptorSaysSo) {
  const int event = eventfd(0, 0);
  close(event);
  const BlockedCall call = {.number = SYS_read,
                            .arguments = {static_cast<uint64_t>(event)}};
  EXPECT_EQ(Text(Of(event, {.sampled = &call})), "(closed)");
}

// Not the name that the number had before, and not the one that it has now.
TEST_F(DescriptorNamesTest, ANumberThatWasUsedAgainHasNoNameOfAnother) {
  const int event = eventfd(0, 0);
  const BlockedCall call = {.number = SYS_read,
                            .arguments = {static_cast<uint64_t>(event)}};
  Of(event);
  Replace(event, pipe_[0]);
  while (Of(event, {.sampled = &call}).object_name ==
         log_.Name("eventfd")) {  // the link is young
    names_.Search();
  }
  // Since then it is known what it is.
  EXPECT_EQ(Of(event, {.sampled = &call}).kind, WaitKind::kPipe);
  close(event);
}

TEST_F(DescriptorNamesTest, AHookKnowsThatTheNumberWasAnotherFiles) {
  const int event = open("/dev/null", O_RDONLY);
  const DescriptorUse use = Noted(event);
  Replace(event, pipe_[0]);
  EXPECT_EQ(Text(Of(event, use)), "(closed)");
  close(event);
  int other[2];
  ASSERT_EQ(pipe(other), 0);
  const DescriptorUse of_pipe = Noted(other[0]);
  close(other[0]);
  close(other[1]);
  const WaitCause cause = Of(other[0], of_pipe);
  EXPECT_EQ(cause.kind, WaitKind::kPipe);
}

}  // namespace
}  // namespace kymo::off_cpu
