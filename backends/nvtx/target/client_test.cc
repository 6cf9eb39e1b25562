#include "backends/nvtx/target/client.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

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

// --- nvtx_abi.h: the numbers of NVTX 3's headers ---

using Numbers = std::vector<uint64_t>;

// `count` numbers from `first` on.
Numbers From(uint64_t first, size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// nvtxDetail/nvtxTypes.h
TEST(NvtxAbiTest, FunctionsHaveTheirPlaces) {
  EXPECT_EQ(kCallbacks, 1u);
  EXPECT_EQ((Numbers{kCore, kCuda, kOpenCl, kCudaRuntime, kCore2, kSync,
                     kModuleCount}),
            From(1, 7));
  EXPECT_EQ((Numbers{kMarkEx, kMarkA, kMarkW, kRangeStartEx, kRangeStartA,
                     kRangeStartW, kRangeEnd, kRangePushEx, kRangePushA,
                     kRangePushW, kRangePop, kNameCategoryA, kNameCategoryW,
                     kNameOsThreadA, kNameOsThreadW, kCoreSize}),
            From(1, 16));
  EXPECT_EQ((Numbers{kDomainMarkEx, kDomainRangeStartEx, kDomainRangeEnd,
                     kDomainRangePushEx, kDomainRangePop, kDomainResourceCreate,
                     kDomainResourceDestroy, kDomainNameCategoryA,
                     kDomainNameCategoryW, kDomainRegisterStringA,
                     kDomainRegisterStringW, kDomainCreateA, kDomainCreateW,
                     kDomainDestroy, kInitialize, kCore2Size}),
            From(1, 16));
  EXPECT_EQ((Numbers{kNameCuDeviceA, kNameCuContextA, kNameCuStreamA,
                     kNameCuEventA, kCudaSize}),
            (Numbers{1, 3, 5, 7, 9}));
  EXPECT_EQ((Numbers{kNameCudaDeviceA, kNameCudaStreamA, kNameCudaEventA,
                     kCudaRuntimeSize}),
            (Numbers{1, 3, 5, 7}));
}

// nvToolsExt.h, nvToolsExtCuda.h, nvToolsExtCudaRt.h
TEST(NvtxAbiTest, EventsAndResourcesHaveTheirTypes) {
  EXPECT_EQ(kNoPushPopTracking, -2);
  EXPECT_EQ((Numbers{kAscii, kUnicode, kRegistered}), From(1, 3));
  EXPECT_EQ((Numbers{kUint64, kInt64, kDouble, kUint32, kInt32, kFloat}),
            From(1, 6));
  EXPECT_EQ((Numbers{kNativeThread, kPosixThread}), From(0x10003, 2));
  EXPECT_EQ((Numbers{kCudaDevice, kCudaContext, kCudaStream, kCudaEvent}),
            From(0x40001, 4));
  EXPECT_EQ((Numbers{kCudaRtDevice, kCudaRtStream, kCudaRtEvent}),
            From(0x50000, 3));
}

// nvToolsExtPayload.h, nvToolsExtCounters.h
TEST(NvtxAbiTest, ExtensionsHaveTheirNumbers) {
  EXPECT_EQ(kPayloadExtension, 2);
  EXPECT_EQ(kCounterExtension, 4);
  EXPECT_EQ((Numbers{kSchemaRegister, kEnumRegister, kMarkPayload,
                     kRangePushPayload, kRangePopPayload, kRangeStartPayload,
                     kRangeEndPayload, kDomainIsEnabled}),
            From(0, 8));
  EXPECT_EQ(
      (Numbers{kCounterRegister, kCounterSampleInt64, kCounterSampleFloat64}),
      From(0, 3));
  EXPECT_EQ(static_cast<uint32_t>(kExtended), 0xdfbd0009);
  EXPECT_EQ(
      (Numbers{kEntryIsPointer, kEntryOffsetFromBase, kEntryOffsetFromHere,
               kEntryArrayFixed, kEntryArrayZeroTerminated, kEntryArrayLengthAt,
               kEntryArrayMask, kEntryIsMessage}),
      (Numbers{2, 4, 8, 16, 32, 48, 112, 1024}));
  EXPECT_EQ((Numbers{kSchemaHasName, kSchemaHasType, kSchemaHasStaticSize,
                     kSchemaHasAlignment, kSchemaHasId}),
            (Numbers{2, 4, 64, 128, 256}));
  EXPECT_EQ((Numbers{kEnumHasSize, kEnumHasId}), (Numbers{16, 32}));
  EXPECT_EQ((Numbers{kStaticSchema, kDynamicSchema}), From(1, 2));
  EXPECT_EQ((Numbers{kSchemaReferenced, kSchemaRaw}), From(1022, 2));
  EXPECT_EQ(kTypeFirstSchema, 16'777'216u);
  EXPECT_EQ(kFirstDynamicSchema, 4'294'967'296u);
}

// nvToolsExtPayload.h
TEST(NvtxAbiTest, EntriesHaveTheirTypes) {
  EXPECT_EQ((Numbers{kTypeChar,       kTypeUchar,     kTypeShort,   kTypeUshort,
                     kTypeInt,        kTypeUint,      kTypeLong,    kTypeUlong,
                     kTypeLonglong,   kTypeUlonglong, kTypeInt8,    kTypeUint8,
                     kTypeInt16,      kTypeUint16,    kTypeInt32,   kTypeUint32,
                     kTypeInt64,      kTypeUint64,    kTypeFloat,   kTypeDouble,
                     kTypeLongDouble, kTypeSize,      kTypeAddress, kTypeWchar,
                     kTypeChar8,      kTypeChar16,    kTypeChar32}),
            From(1, 27));
  EXPECT_EQ((Numbers{kTypeByte, kTypeFloat32, kTypeFloat64}),
            (Numbers{32, 43, 44}));
  EXPECT_EQ(
      (Numbers{kTypeCategory, kTypeColor, kTypeScopeId, kTypePid32, kTypePid64,
               kTypeTid32, kTypeTid64, kTypeCstring, kTypeCstringUtf8}),
      From(68, 9));
  EXPECT_EQ(kTypeRegisteredString, 80u);
}

}  // namespace
}  // namespace kymo::nvtx
