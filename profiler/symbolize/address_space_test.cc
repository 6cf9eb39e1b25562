#include "profiler/symbolize/address_space.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "profiler/symbolize/proc_maps.h"

namespace kymo::symbolize {
namespace {

ModuleId ModuleAt(const AddressSpace& space, uint64_t address) {
  const Mapping* const mapping = space.Find(address);
  return mapping == nullptr ? 0 : mapping->module;
}

TEST(AddressSpaceTest, FindsTheModuleAndItsRelativeAddress) {
  AddressSpace space;
  space.Map({.start = 0x5000,
             .end = 0x6000,
             .module = 7,
             .delta = uint64_t{0} - 0x4000});
  const Mapping* const mapping = space.Find(0x5123);
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(0x5123 + mapping->delta, 0x1123u);
  EXPECT_EQ(space.Find(0x4fff), nullptr);
  EXPECT_EQ(space.Find(0x6000), nullptr);
}

TEST(AddressSpaceTest, ANewMappingReplacesTheMiddleOfAnOld) {
  AddressSpace space;
  space.Map({.start = 100, .end = 200, .module = 1});
  space.Map({.start = 140, .end = 160, .module = 2});
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(ModuleAt(space, 139), 1u);
  EXPECT_EQ(ModuleAt(space, 140), 2u);
  EXPECT_EQ(ModuleAt(space, 159), 2u);
  EXPECT_EQ(ModuleAt(space, 160), 1u);
}

TEST(AddressSpaceTest, ANewMappingReplacesSeveral) {
  AddressSpace space;
  space.Map({.start = 100, .end = 200, .module = 1});
  space.Map({.start = 200, .end = 300, .module = 2});
  space.Map({.start = 400, .end = 500, .module = 3});
  EXPECT_EQ(ModuleAt(space, 250), 2u);  // now it is cached
  space.Map({.start = 150, .end = 450, .module = 4});
  EXPECT_EQ(ModuleAt(space, 149), 1u);
  EXPECT_EQ(ModuleAt(space, 250), 4u);
  EXPECT_EQ(ModuleAt(space, 450), 3u);
  EXPECT_EQ(space.size(), 3u);
}

TEST(AddressSpaceTest, NeighboursStayAsTheyAre) {
  AddressSpace space;
  space.Map({.start = 300, .end = 400, .module = 3});
  space.Map({.start = 100, .end = 200, .module = 1});
  space.Map({.start = 200, .end = 300, .module = 2});
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(ModuleAt(space, 199), 1u);
  EXPECT_EQ(ModuleAt(space, 200), 2u);
  EXPECT_EQ(ModuleAt(space, 299), 2u);
  EXPECT_EQ(ModuleAt(space, 300), 3u);
  // The same place, and one that ends or begins with an old one.
  space.Map({.start = 200, .end = 300, .module = 4});
  space.Map({.start = 150, .end = 200, .module = 5});
  space.Map({.start = 300, .end = 350, .module = 6});
  EXPECT_EQ(space.size(), 5u);
  EXPECT_EQ(ModuleAt(space, 149), 1u);
  EXPECT_EQ(ModuleAt(space, 150), 5u);
  EXPECT_EQ(ModuleAt(space, 250), 4u);
  EXPECT_EQ(ModuleAt(space, 349), 6u);
  EXPECT_EQ(ModuleAt(space, 350), 3u);
  EXPECT_EQ(ModuleAt(space, 399), 3u);
  EXPECT_EQ(ModuleAt(space, 400), 0u);
  EXPECT_EQ(ModuleAt(space, 99), 0u);
  space.Clear();
  EXPECT_EQ(space.size(), 0u);
  EXPECT_EQ(ModuleAt(space, 250), 0u);
}

TEST(AddressSpaceTest, EmptyMappingsAreIgnored) {
  AddressSpace space;
  space.Map({.start = 100, .end = 100, .module = 1});
  space.Map({.start = 100, .end = 50, .module = 1});
  EXPECT_EQ(space.size(), 0u);
}

// As a file of a process that ends while it is read.
TEST(ProcMapsTest, AFileThatCannotBeReadIsEmpty) {
  EXPECT_EQ(ReadProcText("/proc/self"), "");  // opens, but read() is an error
  EXPECT_EQ(ReadProcText("/nowhere"), "");
  EXPECT_EQ(ReadProcText("/proc/self/comm").back(), '\n');
}

TEST(ProcMapsTest, AProcessWithoutItsMainThreadHasMappings) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_t other;
    pthread_create(
        &other, nullptr,
        [](void*) -> void* {
          for (;;) pause();
        },
        nullptr);
    syscall(SYS_exit, 0);  // of this thread alone
  }
  const std::string stat = "/proc/" + std::to_string(pid) + "/stat";
  while (ReadProcText(stat).find(") Z ") == std::string::npos) usleep(1000);
  EXPECT_FALSE(ReadProcMaps(pid).empty());
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(ReadProcMaps(pid).empty());
}

TEST(ProcMapsTest, ReadsALine) {
  const auto mapping = ParseProcMapsLine(
      "7f0000000000-7f0000001000 rw-s 00003000 103:0a 11     /dev/shm/x");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->device, makedev(0x103, 0x0a));
  EXPECT_EQ(mapping->inode, 11u);
  EXPECT_TRUE(mapping->is_shared);
  EXPECT_FALSE(mapping->is_executable);
  EXPECT_EQ(mapping->path, "/dev/shm/x");
  EXPECT_FALSE(ParseProcMapsLine("nonsense").has_value());
}

TEST(ProcMapsTest, KeepsExecutableMappings) {
  const auto mappings = ParseProcMaps(
      "00400000-00401000 r--p 00000000 fe:01 11     /bin/a b\n"
      "00401000-00403000 r-xp 00001000 fe:01 11     /bin/a b\n"
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00000000 fe:01 12 /tmp/x.so (deleted)\n"
      "nonsense\n"
      "\n"
      "00500000-00500000 r-xp 00000000 fe:01 13     /bin/empty\n"
      "00600000-00500000 r-xp 00000000 fe:01 13     /bin/wrong\n"
      "00700000-00800000 rw-x 00000000 fe:01 13     /bin/data\n"
      "00900000-00a00000 r-xp 00000000 fe:01\n"
      "7fff00000000-7fff00001000 r-xp 00000000 00:00 0   [vdso]");
  ASSERT_EQ(mappings.size(), 4u);
  EXPECT_EQ(mappings[0].start, 0x401000u);
  EXPECT_EQ(mappings[0].end, 0x403000u);
  EXPECT_EQ(mappings[0].file_offset, 0x1000u);
  EXPECT_EQ(mappings[0].inode, 11u);
  EXPECT_EQ(mappings[0].path, "/bin/a b");
  EXPECT_EQ(mappings[1].path, "");
  EXPECT_EQ(mappings[2].path, "/tmp/x.so");
  EXPECT_TRUE(mappings[2].is_deleted);
  EXPECT_FALSE(mappings[0].is_deleted);
  EXPECT_EQ(mappings[1].start, 0x7f0000000000u);
  EXPECT_EQ(mappings[1].inode, 0u);
  EXPECT_EQ(ParseProcMaps("").size(), 0u);
  EXPECT_EQ(mappings[3].path, "[vdso]");
}

}  // namespace
}  // namespace kymo::symbolize
