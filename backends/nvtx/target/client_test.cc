#include "backends/nvtx/target/client.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <string>

namespace kymo::nvtx {
namespace {

std::string said;

int Push(const char* message) {
  said += std::string("push ") + message + "\n";
  return 5;
}
int Pop() {
  said += "pop\n";
  return 6;
}
RangeId Start(const char* message) {
  said += std::string("start ") + message + "\n";
  return 7;
}
void End(RangeId id) { said += "end " + std::to_string(id) + "\n"; }
void Mark(const char* message) {
  said += std::string("mark ") + message + "\n";
}

// As NVTX 3 has it: its size, its version, and what a tool calls with its own.
struct VersionTable {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  void (*set_tools_version)(uint32_t);
};

int tables_seen = 0;

// A tool that is linked into the program.
int Initialize(GetExportTable get_table) {
  const auto* const callbacks =
      static_cast<const CallbacksTable*>(get_table(kCallbacks));
  EXPECT_EQ(callbacks->size, sizeof(CallbacksTable));
  const auto* const version = static_cast<const VersionTable*>(get_table(3));
  EXPECT_EQ(version->size, sizeof(VersionTable));
  EXPECT_EQ(version->version, 3u);
  EXPECT_EQ(version->reserved, 0u);
  version->set_tools_version(3);
  EXPECT_EQ(get_table(2), nullptr);
  EXPECT_EQ(get_table(4), nullptr);
  FunctionTable table = nullptr;
  unsigned size = 0;
  for (const int module : {0, 2, 3, 4, 6, 7}) {
    EXPECT_EQ(callbacks->get_module_functions(module, &table, &size), 0);
  }
  EXPECT_EQ(callbacks->get_module_functions(kCore2, &table, &size), 1);
  EXPECT_EQ(size, unsigned{kCore2Size});
  for (unsigned i = 1; i < size; ++i) EXPECT_NE(table[i], nullptr);
  FunctionTable core = nullptr;
  EXPECT_EQ(callbacks->get_module_functions(kCore, nullptr, nullptr), 1);
  EXPECT_EQ(callbacks->get_module_functions(kCore, &core, &size), 1);
  EXPECT_EQ(size, unsigned{kCoreSize});
  EXPECT_NE(core, table);
  EXPECT_EQ(core[0], nullptr);
  const auto set = [&](unsigned id, auto* function) {
    *core[id] = reinterpret_cast<FunctionPointer>(function);
  };
  set(kRangePushA, Push);
  set(kRangePop, Pop);
  set(kRangeStartA, Start);
  set(kRangeEnd, End);
  set(kMarkA, Mark);
  ++tables_seen;
  return 1;
}

}  // namespace
}  // namespace kymo::nvtx

// Where the variable names no library, this is the tool.
extern "C" kymo::nvtx::InitializeInjection InitializeInjectionNvtx2_fnptr;
kymo::nvtx::InitializeInjection InitializeInjectionNvtx2_fnptr =
    kymo::nvtx::Initialize;

namespace kymo::nvtx {
namespace {

TEST(NvtxClientTest, CallsTheToolThatIsLinkedIn) {
  unsetenv("NVTX_INJECTION64_PATH");
  const NvtxClient& client = GetNvtxClient();
  EXPECT_EQ(&GetNvtxClient(), &client);
  EXPECT_EQ(tables_seen, 1);
  EXPECT_EQ(client.push("a"), 5);
  EXPECT_EQ(client.pop(), 6);
  EXPECT_EQ(client.start("b"), 7u);
  client.end(8);
  client.mark("c");
  EXPECT_EQ(said, "push a\npop\nstart b\nend 8\nmark c\n");
}

}  // namespace
}  // namespace kymo::nvtx
