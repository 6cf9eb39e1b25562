#include "profiler/symbolize/jit/early_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

namespace kymo::symbolize {
namespace {

using testing::EndsWith;
using testing::StartsWith;

std::string NameOf(int64_t pid) { return pid == 7 ? "java" : "racket"; }

TEST(EarlyEndsTest, AFewAreNotWorthALine) {
  const ElfModule library("/lib/libx.so");
  EarlyEnds ends;
  EXPECT_EQ(ends.Remark(0, NameOf), "");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(ends.Remark(200, NameOf), "");
    ends.Add(7, library);
  }
  EXPECT_EQ(ends.Remark(200, NameOf),
            "100 of 200 stacks end early, 100 of them in libx.so: if you "
            "build it, do so with -fasynchronous-unwind-tables or "
            "-fno-omit-frame-pointer");
  EXPECT_EQ(ends.Remark(2'100, NameOf), "");
}

TEST(EarlyEndsTest, WhatHelpsDependsOnTheCode) {
  const auto remark = [](int64_t pid, const ElfModule& module) {
    const ElfModule other("/lib/libx.so");
    EarlyEnds ends;
    for (int i = 0; i < 60; ++i) ends.Add(pid, module);
    for (int i = 0; i < 50; ++i) ends.Add(pid, other);
    return ends.Remark(200, NameOf);
  };
  const auto memory = ElfModule::Memory("[anon]");
  EXPECT_THAT(remark(7, *memory),
              StartsWith("110 of 200 stacks end early, 60 of them in code that "
                         "java (7) made while it ran: run java with"));
  EXPECT_THAT(remark(8, *memory), EndsWith("this code does not keep"));
  const ModuleTable modules;
  EXPECT_THAT(remark(8, modules.module(ModuleTable::kUnknown)),
              EndsWith(" in [unknown]: nobody knows what that code is"));
  const std::string path = testing::TempDir() + "/lisp.core";
  std::ofstream(path) << "LISP heap";
  const auto lisp =
      ElfModule::File(getpid(), {.path = path, .mapped_ns = INT64_MAX});
  EXPECT_THAT(
      remark(8, *lisp),
      EndsWith(" in lisp.core: Kymo cannot read the code of this file"));
}

TEST(EarlyEndsTest, AFileIsOnePlaceForAllPrograms) {
  const ElfModule library("/lib/libx.so");
  const auto memory = ElfModule::Memory("[anon]");
  EarlyEnds ends;
  for (int i = 0; i < 100; ++i) ends.Add(i, library);
  for (int i = 0; i < 60; ++i) ends.Add(7, *memory);
  EXPECT_THAT(ends.Remark(200, NameOf),
              StartsWith("160 of 200 stacks end early, 100 of them in libx"));
  // Code that programs make is that of each.
  for (int i = 0; i < 60; ++i) ends.Add(8, *memory);
  EXPECT_THAT(ends.Remark(300, NameOf),
              StartsWith("220 of 300 stacks end early, 100 of them in libx"));
}

}  // namespace
}  // namespace kymo::symbolize
