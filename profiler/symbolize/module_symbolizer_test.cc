#include "profiler/symbolize/module_symbolizer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/symbolize/dwarf_functions.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/stripped/elf_section.h"

#if defined(__aarch64__)
#define ADDRESS_OF_1 "adr %0, 1b"
#else
#define ADDRESS_OF_1 "lea 1b(%%rip), %0"
#endif

namespace kymo::symbolize {

// Not in the anonymous namespace, so that its name is the same everywhere.
constexpr uint32_t kPlaceLine = __LINE__ + 3;
[[gnu::always_inline]] inline uint64_t InlinedPlace() {
  uint64_t here;
  asm volatile("1: " ADDRESS_OF_1 "; nop" : "=r"(here));
  return here;
}

constexpr uint32_t kCallerLine = __LINE__ + 2;
[[gnu::always_inline]] inline uint64_t InlinedCaller() {
  return InlinedPlace() + 0;
}

[[gnu::noinline]] uint64_t PlaceInOuter(int* line) {
  *line = __LINE__ + 1;
  return InlinedCaller();
}

namespace {

// Under AArch64's emulator, /proc/self/exe has the size of the emulator.
std::string OwnPath() { return std::filesystem::canonical("/proc/self/exe"); }

struct Place {
  const ElfModule* module;
  uint64_t address;
};

std::string TextOf(ModuleSymbolizer& symbolizer, uint64_t address) {
  std::string text;
  for (const NamedFrame& frame : symbolizer.Name(address)) {
    if (!frame.is_resolved) return "no name";  // it would have the file's
    text += frame.function + " " + frame.file + ":" +
            std::to_string(frame.line) + (frame.is_inlined ? " i\n" : "\n");
  }
  return text;
}

class ModuleSymbolizerTest : public ::testing::Test {
 protected:
  ModuleSymbolizerTest() { AddOwnMappings(modules_, space_); }

  Place Find(uint64_t address) {
    const Mapping* const mapping = space_.Find(address);
    return {&modules_.module(mapping->module), address + mapping->delta};
  }

  ModuleTable modules_;
  AddressSpace space_;
};

TEST_F(ModuleSymbolizerTest, ShowsInlinedCallsWithTheirLines) {
  int line = 0;
  const Place place = Find(PlaceInOuter(&line));
  ModuleSymbolizer symbolizer(*place.module);
  const auto frames = symbolizer.Name(place.address);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].function, "kymo::symbolize::PlaceInOuter(int*)");
  EXPECT_FALSE(frames[0].is_inlined);
  EXPECT_EQ(frames[0].line, static_cast<uint32_t>(line));
  EXPECT_TRUE(frames[1].is_inlined);
  EXPECT_NE(frames[1].function.find("InlinedCaller"), std::string::npos);
  EXPECT_EQ(frames[1].line, kCallerLine);
  EXPECT_TRUE(frames[2].is_inlined);
  EXPECT_NE(frames[2].function.find("InlinedPlace"), std::string::npos);
  EXPECT_EQ(frames[2].line, kPlaceLine);
  for (const NamedFrame& frame : frames) {
    EXPECT_EQ(frame.address, place.address);
    EXPECT_TRUE(frame.is_resolved);
    EXPECT_NE(frame.file.find("symbolizer_test.cc"), std::string::npos);
    EXPECT_GT(frame.line, 0u);
  }
}

TEST_F(ModuleSymbolizerTest, NamesFunctionsOfLibrariesBySymbol) {
  const Place place = Find(reinterpret_cast<uint64_t>(&getppid));
  ModuleSymbolizer symbolizer(*place.module);
  EXPECT_EQ(symbolizer.Name(place.address).front().function, "getppid");
}

TEST_F(ModuleSymbolizerTest, AsksNoServer) {
  setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
  const Place place = Find(reinterpret_cast<uint64_t>(&testing::TempDir));
  ModuleSymbolizer symbolizer(*place.module);
  EXPECT_FALSE(symbolizer.Name(place.address).empty());
  unsetenv("DEBUGINFOD_URLS");
}

TEST_F(ModuleSymbolizerTest, WithoutANameAFrameIsItsPlace) {
  const ElfModule module("/opt/gone/libx.so");
  ModuleSymbolizer symbolizer(module);
  const auto frames = symbolizer.Name(0x1f3a);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "libx.so+0x1f3a");
  EXPECT_FALSE(frames[0].is_resolved);
}

// As the heap image of a Lisp.
TEST_F(ModuleSymbolizerTest, AFileOfAnotherFormatIsOnePlace) {
  const std::string path = testing::TempDir() + "/lisp.core";
  std::ofstream(path) << "LISP heap";
  for (const bool is_there : {true, false}) {
    const auto module =
        ElfModule::File(getpid(), {.path = path, .mapped_ns = INT64_MAX});
    for (const uint64_t address : {0x10, 0x20}) {
      const auto frames = ModuleSymbolizer(*module).Name(address);
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_EQ(frames[0].function,
                is_there ? "[lisp.core]"
                         : absl::StrCat("lisp.core+0x", absl::Hex(address)));
      EXPECT_EQ(frames[0].address, is_there ? 0 : address);
      EXPECT_FALSE(frames[0].is_resolved);
    }
    unlink(path.c_str());
  }
}

TEST_F(ModuleSymbolizerTest, CodeInMemoryHasNoNames) {
  const auto name_in = [](const char* memory) {
    return ModuleSymbolizer(*ElfModule::Memory(memory))
        .Name(0x10)
        .front()
        .function;
  };
  EXPECT_EQ(name_in("[anon]"), "[anon]");
  EXPECT_EQ(name_in("[heap]"), "[heap]");
  EXPECT_EQ(name_in("/memfd:vmem (deleted)"), "[anon]");
}

TEST_F(ModuleSymbolizerTest, AFileReplacedSinceIsNotUsed) {
  const std::filesystem::path copy =
      std::filesystem::path(testing::TempDir()) / "replaced";
  std::filesystem::copy_file(OwnPath(), copy,
                             std::filesystem::copy_options::overwrite_existing);
  const FileIdentity wrong_id{.path = copy, .build_id = "not this one"};
  EXPECT_EQ(ElfModule::File(getpid(), wrong_id)->elf(), nullptr);
  const FileIdentity too_new{
      .path = copy, .build_id = {}, .inode = 1, .mapped_ns = 1};
  EXPECT_EQ(ElfModule::File(getpid(), too_new)->elf(), nullptr);
  const FileIdentity fitting{
      .path = copy, .build_id = {}, .inode = 1, .mapped_ns = INT64_MAX};
  const auto module = ElfModule::File(getpid(), fitting);
  ASSERT_NE(module->elf(), nullptr);
  EXPECT_TRUE(module->IsUnchanged());
  std::ofstream(copy, std::ios::app) << "more";
  EXPECT_FALSE(module->IsUnchanged());
  EXPECT_FALSE(ModuleSymbolizer(*module).Name(0x1000).front().is_resolved);
  std::filesystem::remove(copy);
}

// Else all modules' debug information would be in memory at once.
TEST_F(ModuleSymbolizerTest, DebugInformationEndsWithTheSymbolizer) {
  const std::string copy = testing::TempDir() + "/debug_information_ends";
  std::filesystem::copy_file(OwnPath(), copy);
  const auto module =
      ElfModule::File(getpid(), {.path = copy, .mapped_ns = INT64_MAX});
  int line = 0;
  const uint64_t address = Find(PlaceInOuter(&line)).address;
  {
    ModuleSymbolizer symbolizer(*module);
    EXPECT_NE(TextOf(symbolizer, address).find("InlinedPlace"),
              std::string::npos);
  }
  const auto section = FindElfSection(module->elf(), ".debug_info");
  ASSERT_TRUE(section);
  std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(section->header.sh_offset));
  file << "changed" << std::flush;
  const Elf_Data* const data = elf_getdata(section->section, nullptr);
  ASSERT_NE(data, nullptr);
  ASSERT_GT(data->d_size, 7u);
  EXPECT_EQ(std::string(static_cast<const char*>(data->d_buf), 7), "changed");
  std::filesystem::remove(copy);
}

std::string TextOf(DwarfFunctions& functions, uint64_t address) {
  std::string text;
  for (const SourceFrame& frame : functions.Find(address)) {
    text += std::string(frame.name == nullptr ? "?" : frame.name) + " " +
            frame.file + ":" + std::to_string(frame.line) +
            (frame.is_inlined ? " i\n" : "\n");
  }
  return text;
}

class MappedFunctionsTest : public ModuleSymbolizerTest {
 protected:
  MappedFunctionsTest() {
    std::filesystem::copy_file(
        OwnPath(), copy_, std::filesystem::copy_options::overwrite_existing);
    module_ = ElfModule::File(0, {.path = copy_, .mapped_ns = INT64_MAX});
    address_ = Find(PlaceInOuter(&line_)).address;
  }
  ~MappedFunctionsTest() override { std::filesystem::remove(copy_); }

  const std::string copy_ = testing::TempDir() + "/mapped_functions";
  std::unique_ptr<ElfModule> module_;
  int line_ = 0;
  uint64_t address_ = 0;
};

TEST_F(MappedFunctionsTest, SayTheSame) {
  DwarfFunctions read(module_->image(), DwarfFunctions::Map::kNo);
  DwarfFunctions mapped(module_->image(), DwarfFunctions::Map::kYes, 1);
  const std::string text = TextOf(read, address_);
  EXPECT_NE(text.find("InlinedPlace"), std::string::npos) << text;
  // Often enough that pages are given back in between.
  for (int i = 0; i < 200; ++i) ASSERT_EQ(TextOf(mapped, address_), text);
}

// Nothing wrong is said. What has been read is known still: of a unit without a
// list of addresses, as Clang makes them, that is all of it.
TEST_F(MappedFunctionsTest, EndWithTheirFile) {
  DwarfFunctions read(module_->image(), DwarfFunctions::Map::kNo);
  const std::string text = TextOf(read, address_);
  DwarfFunctions functions(module_->image(), DwarfFunctions::Map::kYes, 1);
  ASSERT_FALSE(functions.empty());
  std::filesystem::resize_file(copy_, 0);
  const std::string now = TextOf(functions, address_);
  EXPECT_TRUE(now == text || now.find("InlinedPlace") == now.npos) << now;
}

// As packages of distributions have it, with and without the list of units.
TEST_F(ModuleSymbolizerTest, ACompressedDebugFileSaysTheSame) {
  const std::string folder = testing::TempDir() + "/compressed_debug_file";
  const std::string program = OwnPath();
  const std::string stripped = folder + "/program";
  const std::string debug = folder + "/program.debug";
  int line = 0;
  const Place place = Find(PlaceInOuter(&line));
  ModuleSymbolizer whole(*place.module);
  for (const std::string option : {"", " --remove-section=.debug_aranges"}) {
    std::filesystem::create_directories(folder);
    const std::string commands =
        "objcopy --only-keep-debug --compress-debug-sections=zlib" + option +
        " " + program + " " + debug +
        " && objcopy --strip-all --add-gnu-debuglink=" + debug + " " + program +
        " " + stripped;
    ASSERT_EQ(system(commands.c_str()), 0);
    const auto module =
        ElfModule::File(getpid(), {.path = stripped, .mapped_ns = INT64_MAX});
    ModuleSymbolizer compressed(*module);
    // Of several functions and units, and between them.
    for (uint64_t address = place.address - 40'000;
         address < place.address + 40'000; address += 997) {
      EXPECT_EQ(TextOf(compressed, address), TextOf(whole, address));
    }
    // Of one that was announced, and of one that was not.
    for (uint64_t address = place.address - 40'000;
         address < place.address + 40'000; address += 13'000) {
      ModuleSymbolizer of_one(*module, {&address, 1});
      EXPECT_EQ(TextOf(of_one, address), TextOf(whole, address));
      EXPECT_EQ(TextOf(of_one, place.address), TextOf(whole, place.address));
    }
    EXPECT_NE(TextOf(compressed, place.address).find("InlinedPlace"),
              std::string::npos);
    std::filesystem::remove_all(folder);
  }
}

TEST_F(ModuleSymbolizerTest, DemanglesWhatIsMangledOnly) {
  EXPECT_EQ(Demangle("_ZN4kymo3FooEi"), "kymo::Foo(int)");
  EXPECT_EQ(Demangle("i"), "i");  // the demangler takes it for a type
  EXPECT_EQ(Demangle("_Znonsense"), "_Znonsense");
  EXPECT_EQ(Demangle("_Rtree_insert"), "_Rtree_insert");
  EXPECT_EQ(Demangle("_D4main3fooFZv"), "_D4main3fooFZv");  // D
  EXPECT_EQ(Demangle("$s4main3fooyyF"), "$s4main3fooyyF");  // Swift
}

// The pairs are examples of RFC 2603, as the book of rustc has them ("v0 Symbol
// Format").
TEST_F(ModuleSymbolizerTest, DemanglesRust) {
  EXPECT_EQ(Demangle("_RNvCs15kBYyAo9fc_7mycrate7example"), "mycrate::example");
  EXPECT_EQ(Demangle("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBY"
                     "yAo9fc_7mycrate"),
            "<std::path::PathBuf>::new");
  EXPECT_EQ(Demangle("_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo"),
            "<mycrate::Example as mycrate::Trait>::foo");
  EXPECT_EQ(Demangle("_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_"),
            "mycrate::example::<i32, 1>");
  EXPECT_EQ(Demangle("_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_"),
            "mycrate::main::{closure#0}");
  EXPECT_EQ(Demangle("_RNvCs15kBYyAo9fc_7mycrate7example.llvm.123"),
            "mycrate::example");
  // Names before v0 look like those of C++ and end in a hash.
  EXPECT_EQ(Demangle("_ZN5alloc3vec4push17h0123456789abcdefE"),
            "alloc::vec::push");
  EXPECT_EQ(Demangle("_ZN5alloc3vec4push17h0123456789abcdefE.llvm.99"),
            "alloc::vec::push");
  EXPECT_EQ(Demangle("_ZN47_$LT$app..Row$u20$as$u20$core..fmt..Display$GT$3fmt"
                     "17h930b740aa94f1d3aE"),
            "<app::Row as core::fmt::Display>::fmt");
}

// A reference to what stands `at` characters behind "_R", as RFC 2603 writes
// numbers: to the base of 62, less one, and closed by an underscore.
std::string BackReference(size_t at) {
  constexpr char kDigits[] =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string digits;
  for (size_t n = at - 1; n != 0 || digits.empty(); n /= 62) {
    digits.insert(digits.begin(), kDigits[n % 62]);
  }
  return "B" + digits + "_";
}

// Each tuple has the one before it twice: 2^40 units in 400 characters.
TEST_F(ModuleSymbolizerTest, NamesOfRustThatGrowWithoutEndStayMangled) {
  for (const int tuples : {2, 40}) {
    std::string name = "INvC1c1f";
    size_t last = name.size();
    name += "TuuE";
    for (int i = 0; i < tuples; ++i) {
      const std::string reference = BackReference(last);
      last = name.size();
      name += "T" + reference + reference + "E";
    }
    name = "_R" + name + "E";
    if (tuples == 2) {
      EXPECT_EQ(Demangle(name.c_str()),
                "c::f::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), "
                "(((), ()), ((), ())))>");
    } else {
      EXPECT_EQ(Demangle(name.c_str()), name);
    }
  }
}

TEST_F(ModuleSymbolizerTest, TheVdsoHasNames) {
  const ModuleId vdso = modules_.Named("[vdso]");
  EXPECT_EQ(modules_.module(vdso).path(), "[vdso]");
  EXPECT_NE(modules_.module(vdso).elf(), nullptr);
  ModuleSymbolizer symbolizer(modules_.module(vdso));
  std::set<std::string> names;
  for (uint64_t address = 0; address < 0x4000; address += 16) {
    names.insert(symbolizer.Name(address).front().function);
  }
  // As vdso(7) has it.
#if defined(__aarch64__)
  EXPECT_EQ(names.count("__kernel_clock_gettime"), 1u);
  EXPECT_EQ(names.count("__kernel_clock_getres"), 1u);
#else
  EXPECT_EQ(names.count("__vdso_clock_gettime"), 1u);
  EXPECT_EQ(names.count("__vdso_getcpu"), 1u);
#endif
}

}  // namespace
}  // namespace kymo::symbolize
