#include "profiler/record/run_by_musl.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace kymo {
namespace {

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

// An ELF file that asks for `loader` in its second program header.
std::string FileWithLoader(const std::string& loader,
                           uint32_t type = PT_INTERP) {
  Elf64_Ehdr header = {};
  header.e_ident[EI_MAG0] = ELFMAG0;
  header.e_ident[EI_MAG1] = ELFMAG1;
  header.e_ident[EI_MAG2] = ELFMAG2;
  header.e_ident[EI_MAG3] = ELFMAG3;
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof(header);
  header.e_phnum = 2;
  Elf64_Phdr other = {};
  other.p_type = PT_LOAD;
  Elf64_Phdr part = {};
  part.p_type = type;
  part.p_offset = sizeof(header) + sizeof(other) + sizeof(part);
  part.p_filesz = loader.size();
  return BytesOf(header) + BytesOf(other) + BytesOf(part) + loader;
}

class RunByMuslTest : public testing::Test {
 protected:
  RunByMuslTest() { std::filesystem::create_directories(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    return path;
  }
  bool IsMusl(const std::string& bytes) const {
    return IsRunByMusl(AT_FDCWD, Write("program", bytes).c_str());
  }

  const std::string folder_ = testing::TempDir() + "/run_by_musl_test";
  const std::string musl_ = FileWithLoader("/lib/ld-musl-x86_64.so.1");
};

TEST_F(RunByMuslTest, TheLoaderSaysWhichCLibraryAProgramHas) {
  EXPECT_TRUE(IsMusl(musl_));
  EXPECT_TRUE(IsMusl(FileWithLoader("./ld-musl-aarch64.so.1")));
  EXPECT_FALSE(IsMusl(FileWithLoader("/lib64/ld-linux-x86-64.so.2")));
  EXPECT_FALSE(IsMusl(FileWithLoader("/lib/ld-musl-x86_64.so.1", PT_NOTE)));
}

// ld-musl-x86_64.so.1 PROGRAM preloads libraries, too.
TEST_F(RunByMuslTest, TheLoaderItselfIs) {
  const std::string bytes =
      FileWithLoader("/lib64/ld-linux-x86-64.so.2", PT_NOTE);
  const std::string loader = Write("ld-musl-x86_64.so.1", bytes);
  EXPECT_TRUE(IsRunByMusl(AT_FDCWD, loader.c_str()));
  EXPECT_TRUE(IsMusl("#!" + loader + "\n"));
  EXPECT_FALSE(IsRunByMusl(AT_FDCWD, Write("ld-linux", bytes).c_str()));
  EXPECT_FALSE(IsRunByMusl(AT_FDCWD, "/nowhere/ld-musl-x86_64.so.1"));
}

TEST_F(RunByMuslTest, AScriptIsRunByItsInterpreter) {
  const std::string program = Write("musl", musl_);
  const std::string script = Write("script", "#! " + program + " -e\n");
  EXPECT_TRUE(IsRunByMusl(AT_FDCWD, script.c_str()));
  EXPECT_TRUE(IsMusl("#!" + script + "\n"));
  EXPECT_FALSE(IsMusl("#!/bin/sh " + program + "\n"));
  EXPECT_FALSE(IsMusl("#!" + folder_ + "/program\n"));  // itself
}

TEST_F(RunByMuslTest, BrokenFilesAreNot) {
  for (size_t size = 0; size < musl_.size(); ++size) {
    EXPECT_EQ(IsMusl(musl_.substr(0, size)),
              size >= musl_.find("/ld-musl-") + 9)
        << size;
  }
  std::string many = musl_;
  many.replace(offsetof(Elf64_Ehdr, e_phnum), 2, "\xff\xff");
  many.replace(offsetof(Elf64_Ehdr, e_phoff), 8, 8, '\xff');
  EXPECT_FALSE(IsMusl(many));
  EXPECT_FALSE(IsMusl("#!"));
  EXPECT_FALSE(IsMusl("#! \t"));
  EXPECT_FALSE(IsMusl("#!/bin/sh"));
  EXPECT_FALSE(IsMusl("#!" + std::string(5'000, 'x') + "\n"));
  for (const char* const path : {"/dev/zero", "/", "/nowhere", ""}) {
    EXPECT_FALSE(IsRunByMusl(AT_FDCWD, path)) << path;
  }
}

TEST_F(RunByMuslTest, RelativePathsBeginAtTheFolder) {
  Write("program", musl_);
  const int folder = open(folder_.c_str(), O_PATH | O_CLOEXEC);
  EXPECT_TRUE(IsRunByMusl(folder, "program"));
  EXPECT_FALSE(IsRunByMusl(folder, "no program"));
  close(folder);
  EXPECT_FALSE(IsRunByMusl(AT_FDCWD, "program"));
}

TEST_F(RunByMuslTest, ProgramsAreFoundAsExecvpFindsThem) {
  const std::string before = getenv("PATH");
  const std::string program = Write("musl program", musl_);
  setenv("PATH", (":/nowhere:" + folder_ + ":/bin").c_str(), 1);
  errno = 7;
  EXPECT_TRUE(IsFoundRunByMusl("musl program"));
  EXPECT_TRUE(IsFoundRunByMusl(program.c_str()));
  EXPECT_FALSE(IsFoundRunByMusl("sh"));
  EXPECT_FALSE(IsFoundRunByMusl("no program"));
  EXPECT_FALSE(IsFoundRunByMusl(std::string(10'000, 'x').c_str()));
  Write("sh", musl_);
  EXPECT_TRUE(IsFoundRunByMusl("sh"));
  ASSERT_EQ(chmod((folder_ + "/sh").c_str(), 0600), 0);
  setenv("PATH", "/nowhere", 1);
  EXPECT_FALSE(IsFoundRunByMusl("musl program"));
  EXPECT_EQ(errno, 7);
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace kymo
