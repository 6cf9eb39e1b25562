#include "profiler/symbolize/stripped/mini_debug_info.h"

#include <gtest/gtest.h>
#include <lzma.h>

#include <string>

#include "profiler/symbolize/elf_symbols.h"
#include "profiler/symbolize/stripped/test_image.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

std::string Compressed(const std::string& bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(
                6, LZMA_CHECK_CRC32, nullptr,
                reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

TestElf Stripped(const std::string& debug_data) {
  TestElf elf;
  elf.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
  elf.Add({.name = ".gnu_debugdata", .bytes = debug_data});
  return elf;
}

TEST(MiniDebugInfoTest, AStrippedFileHasItsSymbolsInItself) {
  TestElf inner;
  inner.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
  inner.AddSymbols(SHT_SYMTAB, {Function("hidden", 0x1000, 4, STB_LOCAL)});
  const Image outer(Stripped(Compressed(inner.Bytes())));
  const MiniDebugInfo mini(outer.elf());
  ASSERT_NE(mini.elf(), nullptr);
  ElfSymbols symbols;
  symbols.Add({mini.elf()});
  symbols.Seal();
  EXPECT_STREQ(symbols.Find(0x1001), "hidden");
}

TEST(MiniDebugInfoTest, DamagedDataIsNone) {
  const std::string good = Compressed(TestElf().Bytes());
  EXPECT_NE(MiniDebugInfo(Image(Stripped(good)).elf()).elf(), nullptr);
  std::string flipped = good;
  flipped[flipped.size() / 2] ^= 0x55;
  for (const std::string& bytes :
       {std::string(), std::string("no xz"), good.substr(0, good.size() / 2),
        flipped, Compressed("no ELF file"), Compressed("")}) {
    EXPECT_EQ(MiniDebugInfo(Image(Stripped(bytes)).elf()).elf(), nullptr);
  }
  EXPECT_EQ(MiniDebugInfo(nullptr).elf(), nullptr);
  EXPECT_EQ(MiniDebugInfo(Image(TestElf()).elf()).elf(), nullptr);
}

TEST(MiniDebugInfoTest, ABombIsNotUnpacked) {
  const Image bomb(
      Stripped(Compressed(std::string((size_t{64} << 20) + 1, '\0'))));
  EXPECT_EQ(MiniDebugInfo(bomb.elf()).elf(), nullptr);
}

}  // namespace
}  // namespace kymo::symbolize
