#include "profiler/on_demand/endpoint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::on_demand {
namespace {

std::string Unique(const std::string& name) {
  return name + std::to_string(getpid());
}

// How many of this process's descriptors are open for the file at `path`.
int OpenOnes(const std::string& path) {
  int count = 0;
  std::error_code error;
  for (const auto& one :
       std::filesystem::directory_iterator("/proc/self/fd", error)) {
    count += std::filesystem::read_symlink(one.path(), error) == path;
  }
  return count;
}

TEST(EndpointTest, TheNameOfTheDaemonHasTheBytesOfKineto) {
  const auto address = AddressOf("dynolog", "");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->size, 2 + 7 + 2);
  EXPECT_EQ(std::string(address->name.sun_path, 9),
            std::string("\0dynolog\0", 9));
  EXPECT_STREQ(AddressOf("dynolog", "/run/k")->name.sun_path, "/run/k/dynolog");
  EXPECT_TRUE(absl::IsInvalidArgument(
      AddressOf("dynolog", std::string(200, 'x')).status()));
}

void TellsWhoSent(const std::string& folder) {
  const std::string name = Unique("daemon");
  const auto daemon = Endpoint::Bind(name, folder);
  const auto program = Endpoint::Bind(Unique("program"), folder);
  ASSERT_TRUE(daemon.ok() && program.ok());
  EXPECT_FALSE(daemon->Receive().has_value());
  ASSERT_TRUE(program->Send(*AddressOf(name, folder), "hello").ok());
  const auto datagram = daemon->Receive();
  ASSERT_TRUE(datagram.has_value());
  EXPECT_EQ(datagram->bytes, "hello");
  EXPECT_EQ(datagram->pid, getpid());
  EXPECT_EQ(datagram->user, getuid());
  EXPECT_EQ(datagram->sender, *AddressOf(Unique("program"), folder));
  EXPECT_EQ(NameOf(datagram->sender), Unique("program"));
  ASSERT_TRUE(daemon->Send(datagram->sender, "there").ok());
  EXPECT_EQ(program->Receive()->bytes, "there");
}

TEST(EndpointTest, TellsWhoSentByAbstractNames) { TellsWhoSent(""); }

// Also of a program that asks all the time, and does not pass its credentials.
TEST(EndpointTest, TellsWhoSentTheFirstDatagram) {
  const std::string name = Unique("sudden");
  const Address address = *AddressOf(name, "");
  const int program = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(program, 0);
  std::atomic<bool> is_over = false;
  std::thread asking([&] {
    while (!is_over) {
      sendto(program, "hello", 5, MSG_DONTWAIT,
             reinterpret_cast<const sockaddr*>(&address.name), address.size);
    }
  });
  int received = 0;
  for (int i = 0; i < 2000 || received == 0; ++i) {
    const auto daemon = Endpoint::Bind(name, "");
    const auto datagram = daemon->Receive();
    if (!datagram.has_value()) continue;
    ++received;
    EXPECT_EQ(datagram->pid, getpid());
  }
  is_over = true;
  asking.join();
  close(program);
  EXPECT_GT(received, 0);
}

TEST(EndpointTest, FindsAndFreesNames) {
  const std::string prefix = Unique("found-");
  {
    const auto bound = Endpoint::Bind(prefix + "a", "");
    ASSERT_TRUE(bound.ok());
    EXPECT_THAT(NamesWith(prefix, ""), testing::ElementsAre(prefix + "a"));
    EXPECT_TRUE(
        absl::IsAlreadyExists(Endpoint::Bind(prefix + "a", "").status()));
    EXPECT_TRUE(absl::IsUnavailable(
        bound->Send(*AddressOf(prefix + "b", ""), "nobody")));
  }
  EXPECT_THAT(NamesWith(prefix, ""), testing::IsEmpty());
}

TEST(EndpointTest, NamesMayBeFiles) {
  char folder[] = "/tmp/kymo-names-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  TellsWhoSent(folder);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  {
    auto left = Endpoint::Bind("left", folder);
    EXPECT_TRUE(absl::IsAlreadyExists(Endpoint::Bind("left", folder).status()));
    left->Close();  // as a process that is killed leaves it
  }
  EXPECT_TRUE(std::filesystem::exists(folder + std::string("/left")));
  EXPECT_THAT(NamesWith("le", folder), testing::IsEmpty());
  const auto again = Endpoint::Bind("left", folder);
  EXPECT_TRUE(again.ok());
  EXPECT_THAT(NamesWith("le", folder), testing::ElementsAre("left"));
  std::filesystem::remove_all(folder);
}

// Two daemons that find the same left-over file: the later one must not remove
// the socket of the earlier one, which the test is here.
TEST(EndpointTest, LooksForALeftOverFileAlone) {
  char folder[] = "/tmp/kymo-names-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  Endpoint::Bind("left", folder)->Close();
  int earlier = -1;
  std::optional<absl::StatusOr<Endpoint>> later;
  {
    const OwnedDescriptor lock(open(folder, O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
    std::thread starting(
        [&] { later.emplace(Endpoint::Bind("left", folder)); });
    // It is about to lock the folder when it has opened it.
    for (int i = 0; i < 10'000 && OpenOnes(folder) < 2; ++i) usleep(1000);
    EXPECT_EQ(OpenOnes(folder), 2);
    const Address address = *AddressOf("left", folder);
    unlink(address.name.sun_path);
    earlier = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(earlier, reinterpret_cast<const sockaddr*>(&address.name),
                   address.size),
              0);
    flock(lock.get(), LOCK_UN);
    starting.join();
  }
  EXPECT_TRUE(absl::IsAlreadyExists(later->status())) << later->status();
  EXPECT_THAT(NamesWith("le", folder), testing::ElementsAre("left"));
  close(earlier);
  std::filesystem::remove_all(folder);
}

// A process that keeps the lock does not keep programs from their names.
TEST(EndpointTest, WaitsForTheFolderForASecondAtMost) {
  char folder[] = "/tmp/kymo-names-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const OwnedDescriptor lock(open(folder, O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(Endpoint::Bind("name", folder).ok());
  // A busy machine may take its time, but not this much.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  std::filesystem::remove_all(folder);
}

TEST(EndpointTest, AFileThatIsNoSocketStays) {
  char folder[] = "/tmp/kymo-names-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = folder + std::string("/dynolog");
  std::ofstream(path) << "a program, say";
  const absl::Status status = Endpoint::Bind("dynolog", folder).status();
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::StartsWith("'" + path + "' is no socket: set KINETO"));
  std::filesystem::remove_all(folder);
}

// The longest name that the kernel takes: it has no room for a NUL, and the
// kernel counts one all the same.
TEST(EndpointTest, AnswersTheLongestName) {
  char folder[] = "/tmp/kymo-names-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const auto daemon = Endpoint::Bind("daemon", folder);
  ASSERT_TRUE(daemon.ok());
  sockaddr_un longest = {.sun_family = AF_UNIX, .sun_path = {}};
  std::string path = folder + std::string("/");
  path.resize(sizeof(longest.sun_path), 'x');
  memcpy(longest.sun_path, path.data(), path.size());
  const int program = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(program, reinterpret_cast<const sockaddr*>(&longest),
                 sizeof(longest)),
            0);
  const Address to = *AddressOf("daemon", folder);
  ASSERT_EQ(sendto(program, "hello", 5, 0,
                   reinterpret_cast<const sockaddr*>(&to.name), to.size),
            5);
  const auto datagram = daemon->Receive();
  ASSERT_TRUE(datagram.has_value());
  EXPECT_EQ(NameOf(datagram->sender), path.substr(path.rfind('/') + 1));
  const absl::Status sent = daemon->Send(datagram->sender, "there");
  EXPECT_TRUE(sent.ok()) << sent;
  close(program);
  std::filesystem::remove_all(folder);
}

// In a folder such as /tmp, nobody else may remove it.
TEST(EndpointTest, TellsWhoseSocketIsInTheWay) {
  constexpr uid_t kOther = 65534;
  constexpr uid_t kThis = 65533;
  if (geteuid() != 0) GTEST_SKIP() << "only root can become other users";
  char folder[] = "/tmp/kymo-names-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = folder + std::string("/name");
  ASSERT_EQ(chmod(folder, 01777), 0);
  Endpoint::Bind("name", folder)->Close();
  ASSERT_EQ(chown(path.c_str(), kOther, kOther), 0);
  ASSERT_EQ(seteuid(kThis), 0);
  const absl::Status status = Endpoint::Bind("name", folder).status();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::StartsWith("the socket '" + path +
                                  "' belongs to user 65534: if no process"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kymo::on_demand
