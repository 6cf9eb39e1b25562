#include "backends/stream/decode/preloading.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace kymo::stream {
namespace {

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  chmod(path.c_str(), 0755);
  return path;
}

// This program, whose header `change` has changed.
template <typename Change>
std::string WriteChanged(const std::string& name, Change change) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(self), {}};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  change(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return Write(name, bytes);
}

std::string WriteStatic() {
  return WriteChanged("static", [](Elf64_Ehdr& h) { h.e_phnum = 0; });
}

TEST(PreloadingTest, AnOrdinaryProgramHasNoObstacle) {
  EXPECT_EQ(ObstacleToPreloading("/proc/self/exe"), "");
  EXPECT_EQ(ObstacleToPreloading("/bin/sh"), "");
}

TEST(PreloadingTest, StaticAndForeignProgramsAreTold) {
  EXPECT_EQ(ObstacleToPreloading(WriteStatic()), "is statically linked");
  EXPECT_EQ(ObstacleToPreloading(WriteChanged(
                "foreign", [](Elf64_Ehdr& h) { h.e_machine = EM_S390; })),
            "is of another architecture");
  EXPECT_EQ(
      ObstacleToPreloading(WriteChanged(
          "old", [](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; })),
      "is of another architecture");
}

TEST(PreloadingTest, ProgramsOfMuslAreTold) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(self), {}};
  // Alpine Linux has /lib/ld-musl-x86_64.so.1.
  const size_t at = bytes.find("/ld-linux-");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 10, "/ld-musl-x");
  EXPECT_EQ(ObstacleToPreloading(Write("musl", bytes)),
            "is linked with musl, not glibc");
}

TEST(PreloadingTest, AScriptIsAsItsInterpreterIs) {
  const std::string program = WriteStatic();
  EXPECT_EQ(ObstacleToPreloading(Write("script", "#! " + program + " -x\n1\n")),
            "is run by " + program + ", which is statically linked");
  EXPECT_EQ(ObstacleToPreloading(Write("sh_script", "#!/bin/sh\n:\n")), "");
}

TEST(PreloadingTest, SetUidIsAnObstacleOnlyForOtherUsers) {
  const std::string path = WriteChanged("set_uid", [](Elf64_Ehdr&) {});
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_EQ(ObstacleToPreloading(path), "");
  if (chown(path.c_str(), 65534, 0) != 0) {
    GTEST_SKIP() << "NOT TESTED HERE: files of other users cannot be made";
  }
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_EQ(ObstacleToPreloading(path),
            "is set-uid, set-gid or has capabilities");
}

TEST(PreloadingTest, WhatCannotBeReadHasNoKnownObstacle) {
  EXPECT_EQ(ObstacleToPreloading("/no/such/program"), "");
  EXPECT_EQ(ObstacleToPreloading("word"), "");
  EXPECT_EQ(ObstacleToPreloading(""), "");
  EXPECT_EQ(ObstacleToPreloading(
                Write("loop", "#!" + testing::TempDir() + "/loop\n")),
            "");
}

}  // namespace
}  // namespace kymo::stream
