#include "profiler/unwind/loaded_code.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>
#include <vector>

namespace kymo::unwind {
namespace {

uint64_t AddressOf(const void* object) {
  return reinterpret_cast<uint64_t>(object);
}

TEST(LoadedCodeTest, KnowsTheFileOfAnAddress) {
  LoadedCode own, libc;
  const auto here = reinterpret_cast<uint64_t>(&FindLoadedCode);
  const auto there = reinterpret_cast<uint64_t>(&puts);
  ASSERT_TRUE(FindLoadedCode(here, &own));
  ASSERT_TRUE(FindLoadedCode(there, &libc));
  EXPECT_LE(own.begin, here);
  EXPECT_GT(own.end, here);
  EXPECT_NE(own.identity, libc.identity);
  ASSERT_NE(own.frame_header, nullptr);
  EXPECT_EQ(*own.frame_header, 1);  // the format's version
}

// What is valid for ever must be what a new search finds, and never that of a
// file that can go.
TEST(LoadedCodeTest, OnlyFilesFromTheStartAreLoadedForEver) {
  void* const library =
      dlopen("profiler/unwind/libtest_library_small.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const uint64_t later = AddressOf(dlsym(library, "test_library_call"));
  for (int round = 0; round < 2; ++round) {
    LoadedCode code, elsewhere;
    ASSERT_TRUE(FindLoadedCode(later, &code));
    EXPECT_EQ(code.for_ever, nullptr);
    if (!FindsLoadedCodeWithoutLock()) continue;
    for (const uint64_t pc : {reinterpret_cast<uint64_t>(&FindLoadedCode),
                              reinterpret_cast<uint64_t>(&puts)}) {
      ASSERT_TRUE(FindLoadedCode(pc, &code));
      ASSERT_TRUE(FindLoadedCodeElsewhere(pc, &elsewhere));
      ASSERT_NE(code.for_ever, nullptr);
      EXPECT_EQ(code.for_ever->begin, code.begin);
      EXPECT_EQ(code.for_ever->end, code.end);
      EXPECT_EQ(code.for_ever->identity, code.identity);
      EXPECT_EQ(elsewhere.identity, code.identity);
    }
  }
  dlclose(library);
}

TEST(LoadedCodeTest, ElsewhereThereIsNone) {
  LoadedCode code;
  const std::vector<char> heap(100000);
  for (const uint64_t pc :
       {uint64_t{0}, AddressOf(&code), AddressOf(heap.data()), ~uint64_t{0}}) {
    EXPECT_FALSE(FindLoadedCode(pc, &code));
    EXPECT_FALSE(FindLoadedCodeElsewhere(pc, &code));
    EXPECT_FALSE(FindLoadedCodeInList(pc, &code));
  }
}

TEST(LoadedCodeTest, TheListSaysTheSame) {
  for (const uint64_t pc : {reinterpret_cast<uint64_t>(&FindLoadedCode),
                            reinterpret_cast<uint64_t>(&puts),
                            reinterpret_cast<uint64_t>(&dlopen)}) {
    LoadedCode code, listed;
    ASSERT_TRUE(FindLoadedCode(pc, &code));
    ASSERT_TRUE(FindLoadedCodeInList(pc, &listed));
    EXPECT_EQ(code.begin, listed.begin);
    EXPECT_EQ(code.frame_header, listed.frame_header);
    EXPECT_LE(listed.end, code.end);
    EXPECT_GT(listed.end, pc);
    EXPECT_EQ(code.identity == listed.identity, code.end == listed.end);
  }
}

TEST(LoadedCodeTest, ALibraryInAnothersPlaceIsAnother) {
  uint64_t begin = 0, identity = 0;
  int replaced = 0;
  for (int round = 0; round < 6; ++round) {
    void* const library =
        dlopen(round % 2 == 0 ? "profiler/unwind/libtest_library_small.so"
                              : "profiler/unwind/libtest_library_large.so",
               RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    const uint64_t pc = AddressOf(dlsym(library, "test_library_call"));
    LoadedCode code, elsewhere;
    ASSERT_TRUE(FindLoadedCodeElsewhere(pc, &elsewhere));
    ASSERT_TRUE(FindLoadedCode(pc, &code));
    if (code.begin == begin) ++replaced;
    EXPECT_EQ(elsewhere.identity, code.identity);
    EXPECT_NE(code.identity, identity);
    begin = code.begin;
    identity = code.identity;
    dlclose(library);
  }
  if (replaced == 0) GTEST_SKIP() << "no library took another one's place";
}

// Two libraries whose unwind tables are the same: only the build id tells.
TEST(LoadedCodeTest, ALibraryIsKnownByItsBuildId) {
  struct Loaded {
    LoadedCode code;
    std::vector<uint8_t> table;  // the front of it
  };
  const auto load = [](const char* name) {
    const std::string path =
        std::string("profiler/unwind/libtest_library_") + name + ".so";
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    EXPECT_NE(library, nullptr) << dlerror();
    Loaded loaded;
    const uint64_t pc = AddressOf(dlsym(library, "test_library_call"));
    EXPECT_TRUE(FindLoadedCode(pc, &loaded.code));
    LoadedCode elsewhere;
    EXPECT_TRUE(FindLoadedCodeElsewhere(pc, &elsewhere));
    EXPECT_EQ(elsewhere.identity, loaded.code.identity);
    const uint8_t* const header = loaded.code.frame_header;
    loaded.table.assign(header, header + 20);
    dlclose(library);
    return loaded;
  };
  const Loaded small = load("small");
  const Loaded other = load("other");
  const Loaded again = load("small");
  if (small.code.begin != other.code.begin ||
      small.code.begin != again.code.begin) {
    GTEST_SKIP() << "no library took another one's place";
  }
  EXPECT_EQ(small.table, other.table);
  EXPECT_EQ(small.code.frame_header, other.code.frame_header);
  EXPECT_NE(small.code.identity, other.code.identity);
  EXPECT_EQ(small.code.identity, again.code.identity);
}

}  // namespace
}  // namespace kymo::unwind
