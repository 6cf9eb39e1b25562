#include "profiler/symbolize/elf_symbols.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/frame_maker.h"
#include "profiler/symbolize/module_symbolizer.h"
#include "profiler/symbolize/test_elf.h"
#include "profiler/symbolize/unwind_functions.h"

namespace kymo::symbolize {
namespace {

// An image in memory.
class Image {
 public:
  explicit Image(const TestElf& elf) : bytes_(elf.Bytes()) {
    elf_version(EV_CURRENT);
    elf_ = elf_memory(bytes_.data(), bytes_.size());
  }
  ~Image() { elf_end(elf_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  Elf* elf() const { return elf_; }

 private:
  std::string bytes_;
  Elf* elf_;
};

// The names at addresses; "-" where there is none.
std::vector<std::string> NamesAt(const TestElf& elf,
                                 const std::vector<uint64_t>& addresses) {
  const Image image(elf);
  ElfSymbols symbols;
  symbols.Add({image.elf()});
  symbols.Seal();
  std::vector<std::string> names;
  for (const uint64_t address : addresses) {
    const char* const name = symbols.Find(address);
    names.push_back(name == nullptr ? "-" : name);
  }
  return names;
}
using Names = std::vector<std::string>;

// Its code is the section 1, at 0x1000.
TestElf WithSymbols(const std::vector<TestSymbol>& symbols,
                    uint32_t type = SHT_SYMTAB, bool is_32_bit = false) {
  TestElf elf;
  elf.is_32_bit = is_32_bit;
  elf.Add(
      {.name = ".text", .address = 0x1000, .bytes = std::string(0x100, 'x')});
  elf.AddSymbols(type, symbols);
  return elf;
}

TEST(ElfSymbolsTest, AFunctionReachesToItsEnd) {
  const std::vector<TestSymbol> functions = {
      Function("second", 0x1040, 0x10), Function("first", 0x1010, 0x20),
      Function("last", 0x1080, 0)};  // without a size: to its section's end
  for (const bool is_32_bit : {false, true}) {
    for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
      EXPECT_EQ(NamesAt(WithSymbols(functions, type, is_32_bit),
                        {0x100f, 0x1010, 0x102f, 0x1030, 0x103f, 0x1040, 0x104f,
                         0x1050, 0x107f, 0x1080, 0x10ff, 0x1100}),
                (Names{"-", "first", "first", "-", "-", "second", "second", "-",
                       "-", "last", "last", "-"}));
    }
  }
}

TEST(ElfSymbolsTest, OnlyCodeHasNames) {
  const auto name_of = [](TestSymbol symbol, uint64_t entry = 0) {
    symbol.size_bytes = 8;
    TestElf elf = WithSymbols({symbol});
    elf.entry = entry;
    return NamesAt(elf, {symbol.address})[0];
  };
  EXPECT_EQ(name_of({.name = "f", .address = 0x1000}), "f");
  EXPECT_EQ(name_of({.name = "f", .address = 0x1000, .type = STT_GNU_IFUNC}),
            "f");
  EXPECT_EQ(name_of({.name = "f", .address = 0x1000, .type = STT_OBJECT}), "-");
  EXPECT_EQ(name_of({.name = "f", .address = 0x1000, .type = STT_NOTYPE}), "-");
  EXPECT_EQ(
      name_of({.name = "f", .address = 0x1000, .type = STT_NOTYPE}, 0x1000),
      "f");
  EXPECT_EQ(
      name_of({.name = "f", .address = 0x1000, .type = STT_OBJECT}, 0x1000),
      "-");
  EXPECT_EQ(name_of({.name = "f", .address = 0x1000, .section = SHN_UNDEF}),
            "-");
  EXPECT_EQ(name_of({.name = "f", .address = 0}), "-");
  // AArch64 marks where code begins.
  for (const char* const mark : {"$x", "$d", "$x.1"}) {
    EXPECT_EQ(
        name_of({.name = mark, .address = 0x1000, .type = STT_NOTYPE}, 0x1000),
        "-");
  }
  EXPECT_EQ(name_of({.name = "", .address = 0x1000}), "-");
}

TEST(ElfSymbolsTest, OfSeveralNamesThePublicAndPlainOneWins) {
  // The first of each pair, whatever their order.
  const std::pair<TestSymbol, TestSymbol> pairs[] = {
      {Function("z", 0x1000, 8), Function("a", 0x1000, 8, STB_WEAK)},
      {Function("z", 0x1000, 8, STB_WEAK), Function("a", 0x1000, 8, STB_LOCAL)},
      {Function("z", 0x1000, 8), Function("_a", 0x1000, 8)},
      {Function("_z", 0x1000, 8), Function("__a", 0x1000, 8)},
      {Function("_Zz", 0x1000, 8), Function("_a", 0x1000, 8)},
      {Function("a", 0x1000, 8), Function("z", 0x1000, 8)},
      {Function(std::string(40, '_') + "z", 0x1000, 8),
       Function("a", 0x1000, 8, STB_WEAK)},
      {Function("___________________z", 0x1000, 8, STB_WEAK),
       Function("a", 0x1000, 8, STB_LOCAL)},
  };
  for (const auto& [better, worse] : pairs) {
    EXPECT_EQ(NamesAt(WithSymbols({better, worse}), {0x1007}),
              Names{better.name});
    EXPECT_EQ(NamesAt(WithSymbols({worse, better}), {0x1007}),
              Names{better.name});
  }
}

TEST(ElfSymbolsTest, NamesEndWithTheirTable) {
  for (const size_t bytes : {511, 512, 513, 1024, 5000}) {
    const std::string name(bytes, 'n');
    EXPECT_EQ(NamesAt(WithSymbols({Function(name, 0x1000, 8)}), {0x1000}),
              Names{name});
    // One without its zero byte, and one outside.
    TestElf cut = WithSymbols({Function(name, 0x1000, 8)});
    cut.sections[1].bytes.pop_back();
    EXPECT_EQ(NamesAt(cut, {0x1000}), Names{"-"});
    cut.sections[1].bytes.resize(1);
    EXPECT_EQ(NamesAt(cut, {0x1000}), Names{"-"});
  }
  const std::string endless(kMostNameBytes + 1, 'n');
  EXPECT_EQ(NamesAt(WithSymbols({Function(endless, 0x1000, 8)}), {0x1000}),
            Names{endless.substr(1)});
}

// A file in a folder of the test's.
class SymbolsOfAFileTest : public ::testing::Test {
 protected:
  ~SymbolsOfAFileTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<ElfModule> Open(const TestElf& elf) const {
    elf.WriteTo(path_);
    return ElfModule::File(getpid(), {.path = path_, .mapped_ns = INT64_MAX});
  }

  const std::string path_ = testing::TempDir() + "/symbols";
};

// PyTorch's two largest libraries have 150 MB of names.
TEST_F(SymbolsOfAFileTest, NamesThatNobodyAsksForStayInTheFile) {
  std::vector<TestSymbol> symbols;
  for (uint64_t i = 0; i < 1024; ++i) {
    symbols.push_back(Function("f" + std::to_string(i) + std::string(8192, 'x'),
                               0x1000 + i, 1));
  }
  const auto module = Open(WithSymbols(symbols));
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const size_t before = in_use();
  ModuleSymbolizer symbolizer(*module);
  EXPECT_EQ(symbolizer.Name(0x1007).front().function, symbols[7].name);
  EXPECT_LT(in_use() - before, size_t{1} << 20);
}

TEST_F(SymbolsOfAFileTest, AFileThatChangesMeanwhileHasNoFurtherNames) {
  const auto module = Open(WithSymbols(
      {Function("first", 0x1000, 8), Function("second", 0x1008, 8)}));
  ModuleSymbolizer symbolizer(*module);
  EXPECT_EQ(symbolizer.Name(0x1000).front().function, "first");
  std::ofstream(path_, std::ios::app) << "more";
  EXPECT_EQ(symbolizer.Name(0x1008).front().function, "symbols+0x1008");
}

// A file whose relocations name these, with stubs in `section`.
TestElf WithStubs(const std::string& section, size_t bytes,
                  const std::vector<std::string>& names) {
  TestElf elf;
  elf.Add(
      {.name = section, .address = 0x2000, .bytes = std::string(bytes, 'x')});
  std::vector<TestSymbol> symbols;
  std::string relocations;
  for (const std::string& name : names) {
    symbols.push_back({.name = name, .section = SHN_UNDEF});
    relocations += BytesOf(
        Elf64_Rela{.r_offset = 0,
                   .r_info = ELF64_R_INFO(symbols.size(), R_X86_64_JUMP_SLOT),
                   .r_addend = 0});
  }
  const uint32_t table = elf.AddSymbols(SHT_DYNSYM, symbols);
  elf.Add({.name = ".rela.plt",
           .type = SHT_RELA,
           .bytes = relocations,
           .link = table,
           .entry_bytes = sizeof(Elf64_Rela)});
  return elf;
}

TEST(ElfSymbolsTest, LinkageStubsHaveTheNamesOfTheirFunctions) {
  // The resolver's own comes first.
  EXPECT_EQ(
      NamesAt(WithStubs(".plt", 48, {"puts", "exit"}),
              {0x2000, 0x200f, 0x2010, 0x201f, 0x2020, 0x202f, 0x2030}),
      (Names{"-", "-", "puts@plt", "puts@plt", "exit@plt", "exit@plt", "-"}));
  EXPECT_EQ(NamesAt(WithStubs(".plt.sec", 32, {"puts", "exit"}),
                    {0x1fff, 0x2000, 0x200f, 0x2010, 0x2020}),
            (Names{"-", "puts@plt", "puts@plt", "exit@plt", "-"}));
  // More relocations than stubs, and one without a name.
  EXPECT_EQ(NamesAt(WithStubs(".plt.sec", 47, {"puts", "", "exit"}),
                    {0x2000, 0x2010, 0x2020}),
            (Names{"puts@plt", "-", "-"}));
  EXPECT_EQ(NamesAt(WithStubs(".plt.sec", 48, {"puts", "", "exit"}),
                    {0x2000, 0x2010, 0x2020}),
            (Names{"puts@plt", "-", "exit@plt"}));
  EXPECT_EQ(NamesAt(WithStubs(".other", 48, {"puts"}), {0x2000}), Names{"-"});
}

TEST(ElfSymbolsTest, StubsWithoutRelocationsOfTheirOwnAreNamedByTheirPlace) {
  // jmp *place(%rip); nop: through 0x3000 and 0x3008.
  const auto stub = [](int32_t distance, const std::string& prefix) {
    return prefix + "\xff\x25" + BytesOf(distance);
  };
  const auto names = [](const std::string& code, uint64_t entry_bytes,
                        const std::vector<uint64_t>& addresses) {
    TestElf elf;
    elf.Add({.name = ".plt.got",
             .address = 0x2000,
             .bytes = code,
             .entry_bytes = entry_bytes});
    const uint32_t table =
        elf.AddSymbols(SHT_DYNSYM, {{.name = "free", .section = SHN_UNDEF},
                                    {.name = "exit", .section = SHN_UNDEF}});
    std::string relocations;
    for (const uint64_t i : {2, 1}) {
      relocations +=
          BytesOf(Elf64_Rela{.r_offset = 0x3000 + 8 * (i - 1),
                             .r_info = ELF64_R_INFO(i, R_X86_64_GLOB_DAT),
                             .r_addend = 0});
    }
    elf.Add({.name = ".rela.dyn",
             .type = SHT_RELA,
             .bytes = relocations,
             .link = table,
             .entry_bytes = sizeof(Elf64_Rela)});
    return NamesAt(elf, addresses);
  };
  const std::string nop = "\x66\x90";
  EXPECT_EQ(names(stub(0x1002, "") + nop + stub(0xff2, "") + nop +
                      stub(0x5000, "") + nop + "end",
                  8, {0x2000, 0x2007, 0x2008, 0x2010, 0x2018}),
            (Names{"exit@plt", "exit@plt", "free@plt", "-", "-"}));
  const std::string mark = "\xf3\x0f\x1e\xfa\xf2";
  EXPECT_EQ(names(stub(0xff5, mark) + std::string(5, '\x90'), 16,
                  {0x2000, 0x200f, 0x2010}),
            (Names{"free@plt", "free@plt", "-"}));
}

TEST(ElfSymbolsTest, StubsOfAArch64AreNamedByTheirPlace) {
  constexpr uint32_t kNop = 0xd503201f;
  constexpr uint32_t kMark = 0xd503245f;   // bti c
  constexpr uint32_t kCheck = 0xd503219f;  // autia1716
  constexpr uint32_t kJump = 0xd61f0220;
  // Behind the resolver's own stub: adrp x16, its place's page; ldr x17, [x16].
  const uint32_t code[] = {
      0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, kJump, kNop, kNop,
      kNop,       0x90000110, 0xf9400211, 0x91000210, kJump,        // 0x50000
      kMark,      0x90000110, 0xf9400611, 0x91002210, kJump, kNop,  // 0x50008
      0xf0fffff0, 0xf9400a11, 0x91004210, kCheck,     kJump, kNop   // 0x2f010
  };
  TestElf elf;
  elf.machine = EM_AARCH64;
  elf.Add({.name = ".plt", .address = 0x30610, .bytes = BytesOf(code)});
  const uint32_t table =
      elf.AddSymbols(SHT_DYNSYM, {{.name = "puts", .section = SHN_UNDEF},
                                  {.name = "exit", .section = SHN_UNDEF},
                                  {.name = "free", .section = SHN_UNDEF}});
  std::string relocations;
  for (const auto& [place, symbol] :
       {std::pair(0x2f010, 3), std::pair(0x50000, 1), std::pair(0x50008, 2)}) {
    relocations +=
        BytesOf(Elf64_Rela{.r_offset = static_cast<Elf64_Addr>(place),
                           .r_info = ELF64_R_INFO(symbol, R_AARCH64_JUMP_SLOT),
                           .r_addend = 0});
  }
  elf.Add({.name = ".rela.plt",
           .type = SHT_RELA,
           .bytes = relocations,
           .link = table,
           .entry_bytes = sizeof(Elf64_Rela)});
  EXPECT_EQ(NamesAt(elf, {0x30610, 0x30620, 0x30630, 0x3063f, 0x30640, 0x30653,
                          0x30654, 0x30658, 0x3066b, 0x3066c}),
            (Names{"-", "-", "puts@plt", "puts@plt", "exit@plt", "exit@plt",
                   "-", "free@plt", "free@plt", "-"}));
}

// --- unwind_functions.h ---

// A version, encodings, and two functions relative to the section at 0x2000.
// The first has its size in .eh_frame at 0x3000, the second has none.
TestElf WithUnwindTables(int32_t first_begin) {
  std::string table = {1, 0x1b, 0x03, 0x3b};
  table += BytesOf(int32_t{0}) + BytesOf(uint32_t{2}) +
           BytesOf(int32_t{-0x1000}) + BytesOf(int32_t{0x1004}) +
           BytesOf(int32_t{0x20}) + BytesOf(int32_t{0x1010});
  const std::string frames = "skip" + BytesOf(uint32_t{12}) +
                             BytesOf(uint32_t{0}) + BytesOf(first_begin) +
                             BytesOf(uint32_t{0x30});
  TestElf elf;
  elf.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
  elf.Add({.name = ".eh_frame_hdr", .address = 0x2000, .bytes = table});
  elf.Add({.name = ".eh_frame", .address = 0x3000, .bytes = frames});
  return elf;
}

TEST(UnwindFunctionsOfFilesTest, AnAddressBelongsToAFunctionOrToWhatIsBetween) {
  using Piece = UnwindFunctions::Piece;
  const Image image(WithUnwindTables(0x1000 - 0x300c));
  const UnwindFunctions functions({image.elf()});
  EXPECT_EQ(functions.Find(0xfff), std::nullopt);
  EXPECT_EQ(functions.Find(0x1000), (Piece{0x1000, 0x1030}));
  EXPECT_EQ(functions.Find(0x102f), (Piece{0x1000, 0x1030}));
  EXPECT_EQ(functions.Find(0x1030), (Piece{0x1030, 0x2020, false}));
  EXPECT_EQ(functions.Find(0x201f), (Piece{0x1030, 0x2020, false}));
  EXPECT_EQ(functions.Find(0x2020), (Piece{0x2020, 0}));
  EXPECT_EQ(functions.Find(0x9000), (Piece{0x2020, 0}));
}

TEST(UnwindFunctionsOfFilesTest, ASizeInAnotherEncodingIsNotKnown) {
  const Image image(WithUnwindTables(7));
  EXPECT_EQ(UnwindFunctions({image.elf()}).Find(0x201f),
            (UnwindFunctions::Piece{0x1000, 0}));
  const Image without(WithSymbols({}));
  EXPECT_EQ(UnwindFunctions({without.elf()}).Find(0x2020), std::nullopt);
}

// --- frame_maker.h ---

TEST(FrameMakerTest, FramesOfTheKernelHaveTheirFunctions) {
  model::TraceShard shard;
  FrameMaker maker(&shard);
  const KernelSymbols symbols("1000 t do_work\n");
  const auto frame_of = [&](uint64_t address) -> const model::Frame& {
    const FrameMaker::Frames frames = maker.MakeKernel(symbols, address);
    EXPECT_EQ(frames.size(), 1u);
    return shard.stacks.frame(frames.front());
  };
  const auto text = [&](model::NameId id) {
    return std::string(shard.strings.Get(id));
  };
  const model::Frame& known = frame_of(0x1008);
  EXPECT_EQ(text(known.function), "do_work");
  EXPECT_EQ(text(known.module), "[kernel]");
  EXPECT_EQ(known.address, 0x1000u);
  EXPECT_TRUE(known.is_kernel);
  EXPECT_TRUE(known.is_resolved);
  EXPECT_FALSE(known.is_inlined);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 0u);
  const model::Frame unknown = frame_of(0xfff);
  EXPECT_EQ(text(unknown.function), "[kernel]");
  EXPECT_EQ(text(unknown.module), "[kernel]");
  EXPECT_EQ(unknown.address, 0u);
  EXPECT_TRUE(unknown.is_kernel);
  EXPECT_FALSE(unknown.is_resolved);
  // All such places are one frame, which counts once.
  frame_of(0x10);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 1u);
  const NamedFrame mark = {.function = "[truncated]"};
  const FrameMaker::Frames cut = maker.MakeNamed({&mark, 1}, "[truncated]");
  ASSERT_EQ(cut.size(), 1u);
  const model::Frame& truncated = shard.stacks.frame(cut.front());
  EXPECT_EQ(text(truncated.module), "[truncated]");
  EXPECT_FALSE(truncated.is_kernel);
  EXPECT_TRUE(truncated.is_resolved);
  EXPECT_EQ(truncated.address, 0u);
  EXPECT_EQ(maker.MakeNamed({&mark, 1}, "[truncated]"), cut);
}

}  // namespace
}  // namespace kymo::symbolize
