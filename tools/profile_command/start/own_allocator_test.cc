#include "tools/profile_command/start/own_allocator.h"

#include <stdlib.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/layout_note.h"
#include "tools/profile_command/start/elf_file.h"
#include "tools/profile_command/start/other_kymo.h"

namespace kymo::tools {
namespace {

std::string Path(const char* variable) {
  const char* const path = getenv(variable);
  return path == nullptr ? "" : path;
}

TEST(OwnAllocatorTest, AProgramThatDefinesMallocBringsIt) {
  EXPECT_TRUE(BringsMalloc(Path("KYMO_OWN_MALLOC")));
}

TEST(OwnAllocatorTest, OthersDoNot) {
  EXPECT_FALSE(BringsMalloc("/proc/self/exe"));
  EXPECT_FALSE(BringsMalloc(Path("KYMO_HOOKED")));
}

TEST(OwnAllocatorTest, WhatIsNoProgramBringsNothing) {
  EXPECT_FALSE(BringsMalloc("/nowhere"));
  EXPECT_FALSE(BringsMalloc("/"));
  const std::string path = testing::TempDir() + "/broken";
  for (const std::string& text : {std::string(), std::string("#!/bin/sh\n"),
                                  std::string("\x7f"
                                              "ELF\x02") +
                                      std::string(200, '\xff')}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(BringsMalloc(path));
  }
}

TEST(OtherKymoTest, AProgramSaysWhichKymoItHas) {
  EXPECT_TRUE(HasOtherKymo(Path("KYMO_OTHER_LAYOUT")));
  EXPECT_FALSE(HasOtherKymo("/bin/true"));
  EXPECT_FALSE(HasOtherKymo("/nowhere"));
}

TEST(OtherKymoTest, EachAnnotatedProgramHasTheNote) {
  const ElfFile target(Path("KYMO_TARGET"));
  const Elf64_Shdr* const section = target.Find(record::kLayoutNoteSection);
  ASSERT_NE(section, nullptr);
  const auto notes = target.Content<record::LayoutNote>(*section);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_STREQ(notes[0].name, "Kymo");
  EXPECT_EQ(notes[0].layout, record::kLayoutVersion);
  EXPECT_FALSE(HasOtherKymo(Path("KYMO_TARGET")));
}

}  // namespace
}  // namespace kymo::tools
