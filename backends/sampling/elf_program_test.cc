#include "backends/sampling/elf_program.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace kymo::sampling {
namespace {

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  unlink(path.c_str());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string BytesOfThisProgram() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(self), {}};
}

TEST(ElfProgramTest, DynamicProgramsHaveAnInterpreter) {
  const ElfProgram self = InspectProgram("/proc/self/exe");
  EXPECT_TRUE(self.is_elf);
  EXPECT_FALSE(self.is_static);
  EXPECT_FALSE(self.changes_user);
}

TEST(ElfProgramTest, ProgramsWithoutAnInterpreterAreStatic) {
  std::string bytes = BytesOfThisProgram();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  // Each of its segments but one is none.
  for (int i = 0; i < header.e_phnum; ++i) {
    char* const at = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, at, sizeof(segment));
    if (segment.p_type == PT_INTERP) segment.p_type = PT_NULL;
    std::memcpy(at, &segment, sizeof(segment));
  }
  const ElfProgram program = InspectProgram(Write("static", bytes));
  EXPECT_TRUE(program.is_elf);
  EXPECT_TRUE(program.is_static);
  EXPECT_FALSE(program.is_go);
  EXPECT_FALSE(HooksSeeWaits(testing::TempDir() + "/static"));
}

// A dynamic program with two notes.
TEST(ElfProgramTest, ProgramsOfGoHaveItsNote) {
  const auto write = [](const std::string& name, const std::string& owner) {
    const auto note = [](const std::string& of) {
      const Elf64_Nhdr header = {.n_namesz = 4, .n_descsz = 4, .n_type = 4};
      return std::string(reinterpret_cast<const char*>(&header),
                         sizeof(header)) +
             (of + std::string(4, '\0')).substr(0, 4) + "abcd";
    };
    const std::string notes = note("GNU") + note(owner);
    Elf64_Ehdr header = {};
    std::ifstream("/proc/self/exe", std::ios::binary)
        .read(reinterpret_cast<char*>(&header), sizeof(header));
    header.e_phoff = sizeof(header);
    header.e_phnum = 2;
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_INTERP},
        {.p_type = PT_NOTE,
         .p_offset = sizeof(header) + sizeof(segments),
         .p_filesz = notes.size(),
         .p_align = 4}};
    return Write(name, std::string(reinterpret_cast<const char*>(&header),
                                   sizeof(header)) +
                           std::string(reinterpret_cast<const char*>(segments),
                                       sizeof(segments)) +
                           notes);
  };
  EXPECT_TRUE(InspectProgram(write("go", "Go")).is_go);
  EXPECT_FALSE(HooksSeeWaits(testing::TempDir() + "/go"));
  EXPECT_FALSE(InspectProgram(write("no_go", "Gox")).is_go);
  EXPECT_TRUE(HooksSeeWaits(testing::TempDir() + "/no_go"));
  EXPECT_FALSE(InspectProgram("/proc/self/exe").is_go);
}

TEST(HooksSeeWaitsTest, OfDynamicProgramsAndScripts) {
  EXPECT_TRUE(HooksSeeWaits("/proc/self/exe"));
  EXPECT_TRUE(HooksSeeWaits(Write("sh_script", "#!/bin/sh\n")));
  EXPECT_FALSE(HooksSeeWaits(Write("py_script", "#!/usr/bin/python3\n")));
}

TEST(ElfProgramTest, WhatIsNoElfFileIsNotStatic) {
  for (const std::string& path :
       {Write("script", "#!/bin/sh\n"), Write("empty", ""),
        std::string("/no/such/program")}) {
    const ElfProgram program = InspectProgram(path);
    EXPECT_FALSE(program.is_elf) << path;
    EXPECT_FALSE(program.is_static) << path;
    EXPECT_FALSE(program.changes_user) << path;
  }
}

// While it lives, modes of files count for root, too.
class WithoutRootsRights {
 public:
  WithoutRootsRights() {
    EXPECT_EQ(syscall(SYS_capget, &header_, rights_), 0);
    const __user_cap_data_struct none[2] = {
        {.effective = 0, .permitted = rights_[0].permitted, .inheritable = 0},
        {.effective = 0, .permitted = rights_[1].permitted, .inheritable = 0}};
    EXPECT_EQ(syscall(SYS_capset, &header_, none), 0);
  }
  ~WithoutRootsRights() { syscall(SYS_capset, &header_, rights_); }
  WithoutRootsRights(const WithoutRootsRights&) = delete;
  WithoutRootsRights& operator=(const WithoutRootsRights&) = delete;

 private:
  __user_cap_header_struct header_ = {.version = _LINUX_CAPABILITY_VERSION_3,
                                      .pid = 0};
  __user_cap_data_struct rights_[2] = {};
};

TEST(ElfProgramTest, EventsEndInAProgramThatItsUserMayNotRead) {
  const std::string path = Write("hidden", BytesOfThisProgram());
  ASSERT_EQ(chmod(path.c_str(), 0555), 0);
  const WithoutRootsRights without;
  EXPECT_FALSE(InspectProgram(path).is_hidden);
  EXPECT_EQ(ObstacleToEvents(path), "");
  ASSERT_EQ(chmod(path.c_str(), 0111), 0);
  EXPECT_TRUE(InspectProgram(path).is_hidden);
  EXPECT_EQ(
      ObstacleToEvents(path).find("may be executed but not read by this user"),
      0u);
  ASSERT_EQ(chmod(path.c_str(), 0000), 0);
  EXPECT_FALSE(InspectProgram(path).is_hidden);
  EXPECT_EQ(ObstacleToEvents("/no/such/program"), "");
}

TEST(ElfProgramTest, EventsEndInAProgramThatChangesItsUserAlsoRoots) {
  const std::string path = Write("becomes", "#!/bin/sh\n");
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_EQ(ObstacleToEvents(path), "");
  if (chown(path.c_str(), 65534, getegid()) != 0) {
    GTEST_SKIP() << "NOT TESTED HERE: files of other users cannot be made";
  }
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_EQ(ObstacleToEvents(path).find("is set-uid or set-gid"), 0u);
}

TEST(ElfProgramTest, OnlyRightsOfOthersChangeTheUser) {
  const std::string path = Write("rights", "#!/bin/sh\n");
  ASSERT_EQ(chmod(path.c_str(), 06755), 0);
  EXPECT_FALSE(InspectProgram(path).changes_user);
  if (chown(path.c_str(), 65534, getegid()) != 0) {
    GTEST_SKIP() << "NOT TESTED HERE: files of other users cannot be made";
  }
  const auto is_others = [&](uid_t user, gid_t group, mode_t mode) {
    EXPECT_EQ(chown(path.c_str(), user, group), 0);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return InspectProgram(path).changes_user;
  };
  EXPECT_TRUE(is_others(65534, getegid(), 04755));
  EXPECT_FALSE(is_others(65534, getegid(), 02755));
  EXPECT_TRUE(is_others(geteuid(), 65534, 02755));
  EXPECT_FALSE(is_others(geteuid(), 65534, 04755));
  EXPECT_FALSE(is_others(65534, 65534, 0755));
}

TEST(IsRunByPythonTest, PythonIs) {
  EXPECT_TRUE(IsRunByPython("/usr/bin/python3"));
  EXPECT_TRUE(IsRunByPython(Write("python3.14t",
                                  "\x7f"
                                  "ELF")));
  const std::string link = ::testing::TempDir() + "/py";
  ASSERT_EQ(symlink("python3.14t", link.c_str()), 0);
  EXPECT_TRUE(IsRunByPython(link));
}

TEST(IsRunByPythonTest, ScriptsOfPythonAre) {
  EXPECT_TRUE(IsRunByPython(Write("a", "#!/usr/bin/python3\nimport os\n")));
  EXPECT_TRUE(IsRunByPython(Write("b", "#! /opt/venv/bin/python -u\n")));
  EXPECT_TRUE(IsRunByPython(Write("c", "#!/usr/bin/env python3\n")));
  EXPECT_TRUE(IsRunByPython(Write("d", "#!/usr/bin/env -S A=1 python3 -u")));
}

TEST(IsRunByPythonTest, OthersAreNot) {
  EXPECT_FALSE(IsRunByPython(Write("e", "#!/bin/sh\nexec python3 \"$@\"\n")));
  EXPECT_FALSE(IsRunByPython(Write("f", "#!/usr/bin/env\npython3\n")));
  EXPECT_FALSE(IsRunByPython(Write("g", "#!")));
  EXPECT_FALSE(IsRunByPython(Write("h", "")));
  EXPECT_FALSE(IsRunByPython("/proc/self/exe"));
  EXPECT_FALSE(IsRunByPython(::testing::TempDir()));
  EXPECT_FALSE(IsRunByPython("/not/there"));
}

}  // namespace
}  // namespace kymo::sampling
