#include "tools/profile_command/attach/attach_flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/builtin/builtin_backends.h"
#include "exporters/builtin/builtin_exporters.h"

namespace kymo::tools {
namespace {

class AttachFlagsTest : public testing::Test {
 protected:
  AttachFlagsTest() {
    EXPECT_TRUE(RegisterBuiltinBackends(backends_).ok());
    EXPECT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  }
  std::string WithoutEffect(std::vector<std::string> flags,
                            const std::vector<std::string>& recorded) {
    flags.insert(flags.begin(), "--pid=1");
    const auto command = ParseCommand(flags, backends_, exporters_);
    EXPECT_TRUE(command.ok()) << command.status();
    return command.ok() ? FlagsWithoutEffect(*command, backends_, recorded)
                        : "";
  }

  BackendRegistry backends_;
  ExporterRegistry exporters_;
};

TEST_F(AttachFlagsTest, WithoutRangesTheirFlagsDoNothing) {
  const std::vector<std::string> from_outside = {"off_cpu", "sampling"};
  EXPECT_EQ(WithoutEffect({}, from_outside), "");
  EXPECT_EQ(WithoutEffect({"--record_shapes", "--with_stack", "--with_modules",
                           "--capture_overload_names"},
                          from_outside),
            "; without effect here: --record_shapes, --with_stack, "
            "--with_modules, --capture_overload_names");
  // What a flag implies was not given.
  EXPECT_EQ(WithoutEffect({"--with_flops", "--group_by_input_shape",
                           "--group_by_stack_n=2"},
                          from_outside),
            "; without effect here: --with_flops, --group_by_input_shape, "
            "--group_by_stack_n");
  EXPECT_EQ(WithoutEffect({"--record_shapes", "--with_stack"},
                          {"cpu", "off_cpu", "sampling"}),
            "");
}

TEST_F(AttachFlagsTest, SettingsAreOfTheirBackend) {
  const std::vector<std::string> flags = {
      "--sampling_hz=10", "--host_period_ms=50", "--cpu_arena_mib=8"};
  EXPECT_EQ(WithoutEffect(flags, {"cpu", "sampling"}),
            "; without effect here: --host_period_ms");
  EXPECT_EQ(WithoutEffect(flags, {"off_cpu"}),
            "; without effect here: --cpu_arena_mib, --host_period_ms, "
            "--sampling_hz");
  // The memory that records go through is also of other backends' records.
  EXPECT_EQ(WithoutEffect(flags, {"nvtx", "sampling"}),
            "; without effect here: --host_period_ms");
}

TEST_F(AttachFlagsTest, WhatHasBeenSaidIsNotSaidAgain) {
  EXPECT_EQ(WithoutEffect({"--memory_mode=counters"}, {"sampling"}), "");
}

}  // namespace
}  // namespace kymo::tools
