// The hooks of start_hooks.h are linked into this program: what it starts gets
// its environment from them.
#include "tools/runtime/musl_programs.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace kymo {
namespace {

char shell[] = "/bin/sh";

// Ends with 5 if of `kPreload` only the other library is left.
char check[] = "test \"$LD_PRELOAD$LAST\" = /none/x.solast && exit 5";
char* const kCheck[] = {shell, const_cast<char*>("-c"), check, nullptr};
char* const kPreload[] = {
    const_cast<char*>("LD_PRELOADS=libkymo_runtime.so"),
    const_cast<char*>("LD_PRELOAD=/none/libkymo_runtime.so:/none/x.so "
                      "libkymo_cuda.so"),
    const_cast<char*>("LAST=last"), nullptr};

int StatusOf(pid_t pid) {
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WEXITSTATUS(status);
}

int StatusOf(const std::function<void()>& exec) {
  const pid_t pid = fork();
  if (pid == 0) {
    exec();
    _exit(99);
  }
  return StatusOf(pid);
}

void Write(const char* path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  ASSERT_EQ(chmod(path, 0700), 0) << strerror(errno);
}

// Where a program names its loader, and that name.
std::pair<size_t, std::string> LoaderIn(const std::string& program) {
  ElfW(Ehdr) header;
  memcpy(&header, program.data(), sizeof(header));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part;
    memcpy(&part, &program[header.e_phoff + i * sizeof(part)], sizeof(part));
    if (part.p_type == PT_INTERP) {
      return {part.p_offset, program.data() + part.p_offset};
    }
  }
  ADD_FAILURE() << "a program without a loader";
  return {};
}

// Has a folder with a shell that asks for musl's loader. That loader is glibc's
// here, so the shell runs with any library preloaded.
class MuslProgramsTest : public testing::Test {
 protected:
  MuslProgramsTest() : before_(std::filesystem::current_path()) {
    const std::string folder = testing::TempDir() + "/musl_programs_test";
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
    std::ifstream file(shell, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto [begin, loader] = LoaderIn(bytes);
    std::string musl = "./ld-musl-x.so.1";
    std::filesystem::remove(musl);
    std::filesystem::create_symlink(loader, musl);
    EXPECT_LE(musl.size(), loader.size()) << loader;
    musl.resize(loader.size());
    Write("musl_sh", bytes.replace(begin, musl.size(), musl));
    std::filesystem::create_directories("other");
    std::filesystem::remove("other/link");
    std::filesystem::create_symlink("../musl_sh", "other/link");
    Write("script", "#! ./musl_sh -e\n" + std::string(check));
  }
  ~MuslProgramsTest() override { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_;
};

TEST_F(MuslProgramsTest, DoNotGetTheRuntime) {
  char* const script[] = {shell, nullptr};
  EXPECT_EQ(StatusOf([] { execve("./musl_sh", kCheck, kPreload); }), 5);
  EXPECT_EQ(StatusOf([&] { execve("script", script, kPreload); }), 5);
  EXPECT_EQ(StatusOf([] {
              setenv("PATH", "/none:", 1);
              execvpe("musl_sh", kCheck, kPreload);
            }),
            5);
  EXPECT_EQ(StatusOf([] {
              environ = const_cast<char**>(kPreload);
              execl("musl_sh", shell, "-c", check, nullptr);
            }),
            5);
  EXPECT_EQ(StatusOf([] {
              execveat(open("other", O_PATH), "link", kCheck, kPreload, 0);
            }),
            5);
  EXPECT_EQ(
      StatusOf([] { fexecve(open("musl_sh", O_PATH), kCheck, kPreload); }), 5);
}

TEST_F(MuslProgramsTest, SpawnedOnesDoNotGetTheRuntime) {
  setenv("PATH", ".", 1);
  for (const auto spawn : {posix_spawn, posix_spawnp}) {
    pid_t pid = -1;
    ASSERT_EQ(spawn(&pid, "musl_sh", nullptr, nullptr, kCheck, kPreload), 0);
    EXPECT_EQ(StatusOf(pid), 5);
  }
}

TEST_F(MuslProgramsTest, HaveNoVariableThatWouldBeEmpty) {
  char* const words[] = {
      shell, const_cast<char*>("-c"),
      const_cast<char*>("test -z \"${LD_PRELOAD+x}\" && exit 5"), nullptr};
  char* const variables[] = {const_cast<char*>("LD_PRELOAD=libkymo_runtime.so"),
                             nullptr};
  EXPECT_EQ(StatusOf([&] { execve("musl_sh", words, variables); }), 5);
}

TEST_F(MuslProgramsTest, OthersKeepIt) {
  EXPECT_EQ(StatusOf([] { execve(shell, kCheck, kPreload); }), 1);
  EXPECT_EQ(StatusOf([] { execve("./musl_sh", kCheck, nullptr); }), 1);
}

TEST(PreloadOfKymoTest, IsThatOfItsLibrariesOnly) {
  const auto preload = [](const char* variable) {
    char* const variables[] = {const_cast<char*>(variable), nullptr};
    return PreloadOfKymo(variables) != nullptr;
  };
  EXPECT_TRUE(preload("LD_PRELOAD=libkymo_runtime.so"));
  EXPECT_TRUE(preload("LD_PRELOAD=/a.so /libkymo_/b/libkymo_mpi.so:"));
  EXPECT_FALSE(preload("LD_PRELOAD=/libkymo_/a.so"));
  EXPECT_FALSE(preload("LD_PRELOAD="));
  EXPECT_FALSE(preload("LD_PRELOAD"));
  EXPECT_EQ(PreloadOfKymo(nullptr), nullptr);
}

}  // namespace
}  // namespace kymo
