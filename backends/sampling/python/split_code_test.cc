#include "backends/sampling/python/split_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/symbolize/elf_module.h"

#ifdef __x86_64__

// As GCC writes a function with a rare part. It calls one function, and ends
// with a jump to another one: both are to their beginnings.
asm(R"(
  .pushsection .text.kymo_split, "ax", @progbits
  .type kymo_split_other, @function
kymo_split_other:
  .cfi_startproc
  nop
  ret
kymo_split_other_end:
  .cfi_endproc
  .type kymo_split_cold, @function
kymo_split_cold:
  .cfi_startproc
  nop
kymo_split_cold_1:
  nop
kymo_split_cold_2:
  .byte 0xe9                  # jmp; the assembler would write a short one
  .long kymo_split_back - . - 4
kymo_split_cold_end:
  .cfi_endproc
  .type kymo_split, @function
kymo_split:
  .cfi_startproc
  test %edi, %edi
  .byte 0x0f, 0x84            # je
  .long kymo_split_cold_1 - . - 4
kymo_split_back:
  .byte 0x0f, 0x8f            # jg
  .long kymo_split_cold_2 - . - 4
  .byte 0xe8                  # call
  .long kymo_split_other - . - 4
  .byte 0x0f, 0x85            # jne
  .long kymo_split_other - . - 4
  .byte 0xe9                  # jmp
  .long kymo_split_other - . - 4
kymo_split_end:
  .cfi_endproc
  .popsection
)");

// 2,000 functions of 5 bytes, and one that jumps into each of them twice.
asm(R"(
  .pushsection .text.kymo_split_many, "ax", @progbits
kymo_split_many:
  .rept 2000
  .cfi_startproc
  .fill 4, 1, 0x90
  ret
  .cfi_endproc
  .endr
kymo_split_wild:
  .cfi_startproc
  .rept 2000
  .byte 0xe9
  .long kymo_split_many + 1 - kymo_split_wild - 5
  .endr
kymo_split_wild_half:
  .rept 2000
  .byte 0xe9
  .long kymo_split_many + 1 - kymo_split_wild_half - 5
  .endr
kymo_split_wild_end:
  .cfi_endproc
  .popsection
)");

extern "C" {
extern const char kymo_split[] __attribute__((visibility("hidden")));
extern const char kymo_split_end[] __attribute__((visibility("hidden")));
extern const char kymo_split_cold[] __attribute__((visibility("hidden")));
extern const char kymo_split_cold_end[] __attribute__((visibility("hidden")));
extern const char kymo_split_other[] __attribute__((visibility("hidden")));
extern const char kymo_split_other_end[] __attribute__((visibility("hidden")));
extern const char kymo_split_wild[] __attribute__((visibility("hidden")));
extern const char kymo_split_wild_half[] __attribute__((visibility("hidden")));
extern const char kymo_split_wild_end[] __attribute__((visibility("hidden")));
}

namespace kymo::sampling {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// How far this program lies from where its file says.
uint64_t Delta() {
  uint64_t delta = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<uint64_t*>(result) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &delta);
  return delta;
}

CodeRange RangeOf(const char* begin, const char* end) {
  return {reinterpret_cast<uint64_t>(begin) - Delta(),
          reinterpret_cast<uint64_t>(end) - Delta()};
}

// How often this thread has read something; nothing if the kernel does not say.
std::optional<uint64_t> ReadCount() {
  std::ifstream file("/proc/thread-self/io");
  std::string word;
  uint64_t count;
  while (file >> word) {
    if (word == "syscr:" && file >> count) return count;
  }
  return std::nullopt;
}

class SplitCodeTest : public ::testing::Test {
 protected:
  std::vector<CodeRange> Find(const std::vector<CodeRange>& functions) const {
    return FindSplitParts(module_->image(), functions);
  }

  const CodeRange split_ = RangeOf(kymo_split, kymo_split_end);
  const CodeRange cold_ = RangeOf(kymo_split_cold, kymo_split_cold_end);
  const CodeRange other_ = RangeOf(kymo_split_other, kymo_split_other_end);
  const std::unique_ptr<symbolize::ElfModule> module_ =
      symbolize::ElfModule::File(
          getpid(), {.path = "/proc/self/exe", .mapped_ns = INT64_MAX});
};

TEST_F(SplitCodeTest, FindsThePartThatIsJumpedInto) {
  EXPECT_THAT(Find({split_}), ElementsAre(cold_));
  EXPECT_THAT(Find({other_, split_}), ElementsAre(cold_));
  EXPECT_THAT(Find({split_, cold_}), IsEmpty()) << "it is known";
}

TEST_F(SplitCodeTest, OtherFunctionsHaveNone) {
  EXPECT_THAT(Find({other_}), IsEmpty());
  // One jump may be no jump.
  EXPECT_THAT(Find({cold_}), IsEmpty());
}

TEST_F(SplitCodeTest, AnyRangeDoes) {
  const auto find = [&](uint64_t begin, uint64_t end) {
    return Find({{begin, end}});
  };
  EXPECT_THAT(find(split_.end, split_.begin), IsEmpty());
  EXPECT_THAT(find(split_.begin, split_.begin + 3), IsEmpty());
  EXPECT_THAT(find(0, ~uint64_t{0}), IsEmpty());
  EXPECT_THAT(find(~uint64_t{0} - 100, ~uint64_t{0}), IsEmpty());
  EXPECT_THAT(FindSplitParts({}, std::span(&split_, 1)), IsEmpty());
}

// Any program may map a file that takes long to look at.
TEST_F(SplitCodeTest, FilesMakeNoEndlessWork) {
  EXPECT_THAT(Find({RangeOf(kymo_split_wild, kymo_split_wild_end)}),
              SizeIs(kMostParts));
  std::vector<CodeRange> many(kMostFunctions, other_);
  many.push_back(split_);
  EXPECT_THAT(Find(many), IsEmpty()) << "behind the last that is looked at";
  const auto before = ReadCount();
  if (!before) GTEST_SKIP() << "no /proc/thread-self/io";
  // It jumps once into each, so none is found.
  EXPECT_THAT(Find({RangeOf(kymo_split_wild, kymo_split_wild_half)}),
              IsEmpty());
  EXPECT_LT(*ReadCount() - *before, 2'500u);
}

}  // namespace
}  // namespace kymo::sampling

#endif  // __x86_64__
