#include "profiler/symbolize/statics/static_names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/process_mappings.h"

namespace kymo::symbolize {

struct NamesTestPool {
  static int64_t shared[4];
};
int64_t NamesTestPool::shared[4] = {1, 2, 3, 4};

namespace {

int64_t names_test_counter = 0;

// Where objects of this process are in their modules.
class StaticNamesTest : public ::testing::Test {
 protected:
  StaticNamesTest() { AddOwnMappings(modules_, space_); }

  // "-": not in static storage.
  std::string Of(const void* object) {
    const auto in = PlaceOf(object);
    return in ? StaticNames(*in->first).Of(in->second) : "-";
  }
  std::optional<StaticNames::Object> Find(const void* object) {
    const auto in = PlaceOf(object);
    return in ? StaticNames(*in->first).Find(in->second) : std::nullopt;
  }

 private:
  std::optional<std::pair<const ElfModule*, uint64_t>> PlaceOf(
      const void* object) {
    const auto address = reinterpret_cast<uint64_t>(object);
    const Mapping* const before = space_.FindBefore(address);
    if (before == nullptr) return std::nullopt;
    const ElfModule& module = modules_.module(before->module);
    const uint64_t inside = address + before->delta;
    if (!IsStatic(module, inside)) return std::nullopt;
    return std::pair(&module, inside);
  }

  ModuleTable modules_;
  AddressSpace space_;
};

TEST_F(StaticNamesTest, ObjectsHaveTheirNames) {
  names_test_counter = NamesTestPool::shared[0];
  const std::string counter = Of(&names_test_counter);
  EXPECT_TRUE(counter.ends_with("::names_test_counter")) << counter;
  EXPECT_EQ(Of(&NamesTestPool::shared),
            "kymo::symbolize::NamesTestPool::shared");
  // In another module, by its public symbols.
  const std::string error_stream = Of(static_cast<const void*>(stderr));
  EXPECT_TRUE(error_stream.find("_IO_2_1_stderr_") != std::string::npos)
      << error_stream;
}

TEST_F(StaticNamesTest, AMemberHasItsDistance) {
  EXPECT_EQ(Of(&NamesTestPool::shared[2]),
            "kymo::symbolize::NamesTestPool::shared+0x10");
  const auto found = Find(&NamesTestPool::shared[2]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 16u);
  EXPECT_EQ(found->size_bytes, 32u);
}

TEST_F(StaticNamesTest, WhatIsElsewhereIsNotStatic) {
  const int on_stack = 0;
  const auto on_heap = std::make_unique<int>(0);
  EXPECT_EQ(Of(&on_stack), "-");
  EXPECT_EQ(Of(on_heap.get()), "-");
  EXPECT_EQ(Of(nullptr), "-");
}

}  // namespace
}  // namespace kymo::symbolize
