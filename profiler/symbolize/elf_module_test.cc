// Long, because process_mappings.h and debug_file.h are tested here, too.
#include "profiler/symbolize/elf_module.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "profiler/symbolize/module_symbolizer.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

class ElfModuleTest : public testing::Test {
 protected:
  ElfModuleTest() { std::filesystem::create_directories(folder_ + "/.debug"); }
  ~ElfModuleTest() override { std::filesystem::remove_all(folder_); }

  std::string PathOf(const std::string& name) { return folder_ + "/" + name; }
  // The file, whatever its times.
  std::unique_ptr<ElfModule> Module(const std::string& path) {
    return ElfModule::File(getpid(), {.path = path, .mapped_ns = INT64_MAX});
  }
  std::unique_ptr<ElfModule> Module(const TestElf& elf) {
    elf.WriteTo(PathOf("lib.so"));
    return Module(PathOf("lib.so"));
  }

  const std::string folder_ = testing::TempDir() + "/elf_module_test";
};

TEST_F(ElfModuleTest, AddressesAreThoseOfTheExecutableSegments) {
  TestElf elf;
  elf.AddCode(0, 0x4000, 0, PF_R);
  elf.AddCode(0, 0x4000, 0x900000, PF_R | PF_X, PT_NOTE + 100);
  elf.AddCode(0x1230, 0x500, 0x401230);
  elf.AddCode(0x3000, 0x800, 0x605000);
  const auto module = Module(elf);
  ASSERT_NE(module->elf(), nullptr);
  constexpr uint64_t kStart = 0x7f0000000000;
  // A mapping begins on a page.
  EXPECT_EQ(module->Delta(kStart, 0x1000), 0x401000 - kStart);
  EXPECT_EQ(module->Delta(kStart, 0x172f), 0x40172f - kStart);
  EXPECT_EQ(module->Delta(kStart, 0x3000), 0x605000 - kStart);
  EXPECT_EQ(module->Delta(kStart, 0x37ff), 0x6057ff - kStart);
  // Elsewhere an address is its place in the file.
  EXPECT_EQ(module->Delta(kStart, 0xfff), 0xfff - kStart);
  EXPECT_EQ(module->Delta(kStart, 0x1730), 0x1730 - kStart);
  EXPECT_EQ(module->Delta(kStart, 0x2fff), 0x2fff - kStart);
  EXPECT_EQ(module->Delta(kStart, 0x3800), 0x3800 - kStart);
}

TEST_F(ElfModuleTest, PagesOfAArch64AreOf4To64KiB) {
  TestElf elf;
  elf.machine = EM_AARCH64;
  elf.AddCode(0x15230, 0x500, 0x425230);
  elf.AddCode(0x1a000, 0x800, 0x60a000);
  for (const uint64_t begin : {0x15000, 0x14000, 0x10000}) {
    EXPECT_EQ(Module(elf)->Delta(0, begin), 0x410000 + begin);
  }
  EXPECT_EQ(Module(elf)->Delta(0, 0x1a000), 0x60a000u);
  elf.machine = EM_X86_64;
  EXPECT_EQ(Module(elf)->Delta(0, 0x14000), 0x14000u);
}

TEST_F(ElfModuleTest, CodeOf32BitsHasPlacesAndNoStacks) {
  for (const bool is_386 : {false, true}) {
    TestElf elf;
    elf.machine = is_386 ? EM_386 : EM_X86_64;
    elf.is_32_bit = is_386;
    elf.entry = 0x8001000;
    elf.AddCode(0x1000, 0x800, 0x8001000);
    elf.Add({.name = ".init", .address = 0x8000000, .bytes = "12345678"});
    const auto module = Module(elf);
    EXPECT_EQ(module->is_386(), is_386);
    EXPECT_EQ(module->Delta(0, 0x1000), 0x8001000u);
    EXPECT_TRUE(module->IsEntryCode(0x8001000));
    EXPECT_EQ(module->InitCodeStackBytes(0x8000004), is_386 ? 0u : 16u);
  }
}

TEST_F(ElfModuleTest, EntryCodeIsTheFirst128BytesFromTheEntry) {
  TestElf elf;
  elf.entry = 0x401020;
  const auto module = Module(elf);
  EXPECT_FALSE(module->IsEntryCode(0x40101f));
  EXPECT_TRUE(module->IsEntryCode(0x401020));
  EXPECT_TRUE(module->IsEntryCode(0x401020 + 127));
  EXPECT_FALSE(module->IsEntryCode(0x401020 + 128));
  // A library has none.
  EXPECT_FALSE(Module(TestElf())->IsEntryCode(5));
  EXPECT_FALSE(ElfModule("[anon]").IsEntryCode(0));
}

TEST_F(ElfModuleTest, AModuleIsNamedByItsPath) {
  EXPECT_EQ(ElfModule("/opt/gone/libx.so").short_name(), "libx.so");
  EXPECT_EQ(ElfModule("libx.so").short_name(), "libx.so");
  EXPECT_EQ(ElfModule("[kernel]").short_name(), "[kernel]");
  EXPECT_EQ(ElfModule("/opt/gone/libx.so").path(), "/opt/gone/libx.so");
  EXPECT_TRUE(ElfModule("/opt/gone/libx.so").IsUnchanged());
}

TEST_F(ElfModuleTest, FilesThatAreNoImageAreClosed) {
  const size_t descriptors = OpenDescriptors();
  const std::string fifo = PathOf("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::ofstream(PathOf("text")) << "no ELF file";
  TestElf other;
  other.machine = EM_RISCV;
  other.WriteTo(PathOf("other"));
  for (const std::string& path :
       {fifo, folder_, PathOf("text"), PathOf("other"), PathOf("none")}) {
    const auto module = Module(path);
    EXPECT_EQ(module->elf(), nullptr) << path;
    EXPECT_EQ(module->path(), path);
    EXPECT_EQ(module->build_id(), "");
    EXPECT_EQ(OpenDescriptors(), descriptors) << path;
  }
  {
    const auto module = Module(TestElf());
    EXPECT_EQ(OpenDescriptors(), descriptors + 1);
  }
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST_F(ElfModuleTest, ABuildIdTellsWhetherItIsTheFile) {
  TestElf elf;
  elf.build_id = "twenty bytes of it..";
  elf.entry = 0x1000;
  elf.AddCode(0, 0x1000, 0x400000);
  const std::string path = PathOf("lib.so");
  elf.WriteTo(path);
  // Whatever its times.
  const auto right =
      ElfModule::File(getpid(), {.path = path, .build_id = elf.build_id});
  ASSERT_NE(right->elf(), nullptr);
  EXPECT_EQ(right->build_id(), elf.build_id);
  const auto wrong = ElfModule::File(
      getpid(), {.path = path, .build_id = "another", .mapped_ns = INT64_MAX});
  EXPECT_EQ(wrong->elf(), nullptr);
  EXPECT_EQ(wrong->build_id(), "");
  EXPECT_FALSE(wrong->IsEntryCode(0x1000));
  EXPECT_EQ(wrong->Delta(0, 0), 0u);
}

TEST_F(ElfModuleTest,
       WithoutABuildIdAFileIsTheOneThatWasMappedBeforeItChanged) {
  const std::string path = PathOf("lib.so");
  TestElf().WriteTo(path);
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  // Written long ago, and renamed since: only its status changed.
  const timespec times[2] = {{1000, 5}, {1000, 5}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  const TimeNs changed_ns =
      status.st_ctim.tv_sec * kNsPerSecond + status.st_ctim.tv_nsec;
  constexpr TimeNs kWrittenNs = 1000 * kNsPerSecond + 5;
  const auto is_used = [&](uint64_t inode, TimeNs mapped_ns) {
    return ElfModule::File(
               getpid(), {.path = path, .inode = inode, .mapped_ns = mapped_ns})
               ->elf() != nullptr;
  };
  EXPECT_TRUE(is_used(1, changed_ns));
  EXPECT_FALSE(is_used(1, changed_ns - 1));
  EXPECT_TRUE(is_used(status.st_ino, changed_ns - 1));
  EXPECT_TRUE(is_used(status.st_ino, kWrittenNs));
  EXPECT_FALSE(is_used(status.st_ino, kWrittenNs - 1));
}

TEST_F(ElfModuleTest, AFileThatWasOverwrittenHasChanged) {
  const std::string path = PathOf("lib.so");
  const auto module = Module(TestElf());
  EXPECT_TRUE(module->IsUnchanged());
  const timespec times[2] = {{1000, 5}, {1000, 5}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_FALSE(module->IsUnchanged());
  // Longer, with the time that it had.
  const auto again = Module(path);
  std::ofstream(path, std::ios::app) << "more";
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_FALSE(again->IsUnchanged());
}

TEST_F(ElfModuleTest, TheTableHasEachModuleOnce) {
  ModuleTable modules;
  ASSERT_EQ(modules.size(), 6u);
  EXPECT_EQ(modules.module(ModuleTable::kKernel).path(), "[kernel]");
  EXPECT_EQ(modules.module(ModuleTable::kUnknown).path(), "[unknown]");
  EXPECT_EQ(modules.module(ModuleTable::kTruncated).path(), "[truncated]");
  EXPECT_EQ(modules.module(ModuleTable::kJit).path(), "[jit]");
  EXPECT_EQ(modules.module(ModuleTable::kNamed).path(), "[named]");
  EXPECT_EQ(modules.module(ModuleTable::kCut).path(), "[cut]");
  const FileIdentity file = {.path = "/x", .build_id = "b", .inode = 7};
  EXPECT_EQ(modules.File(1, file), 6u);
  EXPECT_EQ(modules.File(2, file), 6u);
  EXPECT_EQ(modules.File(1, {.path = "/y", .build_id = "b", .inode = 7}), 7u);
  EXPECT_EQ(modules.File(1, {.path = "/x", .build_id = "c", .inode = 7}), 8u);
  EXPECT_EQ(modules.File(1, {.path = "/x", .build_id = "b", .inode = 8}), 9u);
  EXPECT_EQ(modules.Named("[anon]"), 10u);
  EXPECT_EQ(modules.Named("[vdso]"), 11u);
  EXPECT_EQ(modules.Named("[anon]"), 10u);
  EXPECT_EQ(modules.Named("[vdso]"), 11u);
  EXPECT_EQ(modules.size(), 12u);
  EXPECT_EQ(modules.module(8).path(), "/x");
  EXPECT_EQ(modules.module(10).elf(), nullptr);
  EXPECT_NE(modules.module(11).elf(), nullptr);
}

TEST_F(ElfModuleTest, CodeOfInitHasTheReturnAddressAboveItsOwnBytes) {
  TestElf elf;
  elf.Add({.name = ".init", .address = 0x1000, .bytes = std::string(24, 'x')});
  elf.Add({.name = ".text", .address = 0x2000, .bytes = std::string(24, 'x')});
  elf.Add({.name = ".fini", .address = 0x3000, .bytes = std::string(8, 'x')});
  const auto module = Module(elf);
  EXPECT_EQ(module->InitCodeStackBytes(0xfff), 0u);
  EXPECT_EQ(module->InitCodeStackBytes(0x1000), 8u);
  EXPECT_EQ(module->InitCodeStackBytes(0x1004), 16u);
  EXPECT_EQ(module->InitCodeStackBytes(0x1017), 8u);  // its return
  EXPECT_EQ(module->InitCodeStackBytes(0x1018), 0u);
  EXPECT_EQ(module->InitCodeStackBytes(0x2004), 0u);
  EXPECT_EQ(module->InitCodeStackBytes(0x3004), 16u);
}

TEST_F(ElfModuleTest, CodeIsReadWithinTheSegments) {
  TestElf elf;
  elf.AddCode(0, 4, 0x400000);
  const auto module = Module(elf);
  char text[4] = {};
  const auto bytes = std::as_writable_bytes(std::span(text, 3));
  EXPECT_TRUE(module->ReadCode(0x400001, bytes));
  EXPECT_STREQ(text, "ELF");
  EXPECT_FALSE(module->ReadCode(0x400002, bytes));
  EXPECT_FALSE(module->ReadCode(0x3fffff, bytes));
  EXPECT_FALSE(ElfModule("gone").ReadCode(0x400000, bytes));
  EXPECT_TRUE(ElfModule::Vdso()->ReadCode(1, bytes));
  EXPECT_STREQ(text, "ELF");
}

// --- process_mappings.h ---

TEST_F(ElfModuleTest, MappingsHaveAModuleAndItsAddresses) {
  TestElf elf;
  elf.AddCode(0x1000, 0x500, 0x401000);
  const std::string path = PathOf("lib.so");
  elf.WriteTo(path);
  ModuleTable modules;
  AddressSpace space;
  // Inode and time as in a list that was read when all was there.
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  const std::vector<ProcMapping> mappings = {
      {.start = 0x10000,
       .end = 0x11000,
       .file_offset = 0x1000,
       .inode = status.st_ino,
       .path = path},
      {.start = 0x20000, .end = 0x21000, .path = ""},
      {.start = 0x30000, .end = 0x31000, .path = "//anon"},
      {.start = 0x40000, .end = 0x41000, .path = "[heap]"},
      {.start = 0x50000,
       .end = 0x51000,
       .file_offset = 0x1000,
       .path = "/memfd:code"},
      {.start = 0x60000,
       .end = 0x61000,
       .file_offset = 0x1000,
       .inode = 77,
       .is_deleted = true,
       .path = path}};
  AddMappings(getpid(), mappings, INT64_MAX, modules, space);
  ASSERT_EQ(space.size(), 6u);
  const auto module_at = [&](uint64_t address) -> const ElfModule& {
    return modules.module(space.Find(address)->module);
  };
  EXPECT_EQ(module_at(0x10000).path(), path);
  EXPECT_NE(module_at(0x10fff).elf(), nullptr);
  EXPECT_EQ(space.Find(0x11000), nullptr);
  EXPECT_EQ(space.Find(0x10000)->delta, uint64_t{0x401000} - 0x10000);
  EXPECT_EQ(module_at(0x20000).path(), "[anon]");
  EXPECT_EQ(module_at(0x30000).path(), "[anon]");
  EXPECT_EQ(module_at(0x40000).path(), "[heap]");
  EXPECT_EQ(module_at(0x50000).path(), "/memfd:code");
  for (const uint64_t address : {0x20000, 0x30000, 0x40000, 0x50000}) {
    EXPECT_EQ(space.Find(address)->delta, 0u) << address;
  }
  // The file that now has the name is not the deleted one.
  EXPECT_EQ(module_at(0x60000).path(), path);
  EXPECT_EQ(module_at(0x60000).elf(), nullptr);
  EXPECT_EQ(space.Find(0x60000)->delta, uint64_t{0x1000} - 0x60000);
}

// A child that runs /bin/sleep from that descriptor.
pid_t RunSleep(int program) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    char name[] = "sleep", time[] = "1000";
    char* const words[] = {name, time, nullptr};
    fexecve(program, words, environ);
    _exit(1);
  }
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);  // it has called exec
  close(ends[0]);
  close(program);
  return child;
}

TEST_F(ElfModuleTest, TheVdsoOfA32BitProgramIsAnother) {
  ModuleTable modules;
  AddressSpace space;
  for (const uint64_t address : {0xf7fc4000L, 0x7ffff7fc4000L}) {
    AddMapping({.pid = getpid(),
                .address = address,
                .size_bytes = 0x1000,
                .file = {.path = "[vdso]"}},
               modules, space);
  }
  const auto module_at = [&](uint64_t address) -> const ElfModule& {
    return modules.module(space.Find(address)->module);
  };
  EXPECT_EQ(module_at(0xf7fc4000).elf(), nullptr);
  EXPECT_EQ(module_at(0xf7fc4000).path(), "[vdso32]");
  EXPECT_NE(module_at(0x7ffff7fc4000).elf(), nullptr);
  EXPECT_EQ(module_at(0x7ffff7fc4000).path(), "[vdso]");
}

// Its mappings as the kernel lists them, and as perf events tell of them.
TEST_F(ElfModuleTest, AProgramOfAMemfdIsRead) {
  const int program = memfd_create("prog", MFD_CLOEXEC);
  std::ifstream file("/bin/sleep", std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(write(program, image.data(), image.size()),
            static_cast<ssize_t>(image.size()));
  const pid_t child = RunSleep(program);
  for (const std::string path : {"/memfd:prog", "/memfd:prog (deleted)"}) {
    ModuleTable modules;
    AddressSpace space;
    AddMapping({.pid = child,
                .address = 0x10000,
                .size_bytes = 0x1000,
                .file = {.path = path}},
               modules, space);
    const ElfModule& module = modules.module(space.Find(0x10000)->module);
    EXPECT_NE(module.elf(), nullptr) << path;
    EXPECT_EQ(module.path(), "/memfd:prog");
  }
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST_F(ElfModuleTest, AProgramThatWasReplacedIsReadAllTheSame) {
  const std::string path = PathOf("sleep");
  std::filesystem::copy_file("/bin/sleep", path);
  const pid_t child = RunSleep(open(path.c_str(), O_PATH | O_CLOEXEC));
  const std::string build_id = Module(path)->build_id();
  const FileIdentity old = {.path = path, .build_id = build_id};
  TestElf elf;
  elf.build_id = "another";
  elf.AddCode(0x1000, 0x500, 0x401000);
  std::filesystem::remove(path);
  elf.WriteTo(path);
  const auto module = ElfModule::File(child, old);
  EXPECT_NE(module->elf(), nullptr);
  EXPECT_EQ(module->build_id(), build_id);
  EXPECT_FALSE(module->is_lost());
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  // Nobody has it any more.
  const auto lost = ElfModule::File(child, old);
  EXPECT_EQ(lost->elf(), nullptr);
  EXPECT_TRUE(lost->is_lost());
  EXPECT_EQ(lost->path(), path);
  EXPECT_FALSE(Module(path)->is_lost());
}

// --- debug_file.h, by the names that it brings ---

// CRC-32, bit by bit (ISO 3309), as the manual of gdb has it for debug links.
uint32_t CrcOf(const std::string& bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

class DebugFileTest : public ElfModuleTest {
 protected:
  static TestElf WithSymbol(const std::string& name,
                            const std::string& build_id = "") {
    TestElf elf;
    elf.build_id = build_id;
    elf.Add(
        {.name = ".text", .address = 0x1000, .bytes = std::string(64, 'x')});
    elf.AddSymbols(SHT_SYMTAB, {Function(name, 0x1000, 16)});
    return elf;
  }
  // The name that a stripped file's code has.
  std::string NameIn(const TestElf& elf) {
    const size_t descriptors = OpenDescriptors();
    std::string name;
    {
      const auto module = Module(elf);
      name = ModuleSymbolizer(*module).Name(0x1004).front().function;
    }
    EXPECT_EQ(OpenDescriptors(), descriptors);
    return name;
  }
};

TEST_F(DebugFileTest, ALinksFileHasItsChecksum) {
  // More than is read at a time.
  TestElf debug = WithSymbol("beside");
  debug.Add({.name = ".long", .bytes = std::string(100'000, 'y')});
  const uint32_t crc = CrcOf(debug.WriteTo(PathOf("lib.debug")));
  WithSymbol("below").WriteTo(PathOf(".debug/lib.debug"));
  TestElf elf;
  elf.AddDebugLink("lib.debug", crc);
  EXPECT_EQ(NameIn(elf), "beside");
  // The file beside the module is of another build.
  elf = TestElf();
  elf.AddDebugLink("lib.debug", CrcOf(WithSymbol("below").Bytes()));
  EXPECT_EQ(NameIn(elf), "below");
  elf = TestElf();
  elf.AddDebugLink("lib.debug", crc + 1);
  EXPECT_EQ(NameIn(elf), "lib.so+0x1004");
  elf = TestElf();
  elf.AddDebugLink("none.debug", crc);
  EXPECT_EQ(NameIn(elf), "lib.so+0x1004");
  EXPECT_EQ(NameIn(TestElf()), "lib.so+0x1004");
}

TEST_F(DebugFileTest, OfAModuleWithABuildIdOnlyTheIdCounts) {
  WithSymbol("other", "id of anothr").WriteTo(PathOf("lib.debug"));
  WithSymbol("right", "id of a file").WriteTo(PathOf(".debug/lib.debug"));
  TestElf elf;
  elf.build_id = "id of a file";
  elf.AddDebugLink("lib.debug", CrcOf(WithSymbol("other").Bytes()));
  EXPECT_EQ(NameIn(elf), "right");
  WithSymbol("longer", "id of a file, longer").WriteTo(PathOf("lib.debug"));
  EXPECT_EQ(NameIn(elf), "right");
  std::filesystem::remove(PathOf(".debug/lib.debug"));
  EXPECT_EQ(NameIn(elf), "lib.so+0x1004");
}

}  // namespace
}  // namespace kymo::symbolize
