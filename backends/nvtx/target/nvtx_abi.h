// nvtx_abi.h - the binary interface of NVTX 3, as far as a tool needs it, in
// declarations of our own.
//
//   a program's copy of NVTX ----InitializeInjectionNvtx2(get_export_table)--->
//                                        the tool
//   get_export_table(kCallbacks)->get_module_functions(module, &table, &size)
//   *table[id] = our function            for each function that we want
//
// Extensions (payloads, counters) work likewise: InitializeInjectionNvtx-
// Extension(module), whose slots are integers.
//
// So capturing needs no headers of NVIDIA's and is built everywhere. Where the
// real headers are installed, tests compare these declarations with them.
#ifndef KYMO_BACKENDS_NVTX_TARGET_NVTX_ABI_H_
#define KYMO_BACKENDS_NVTX_TARGET_NVTX_ABI_H_

#include <cstddef>
#include <cstdint>

namespace kymo::nvtx {

// --- tables ---

using FunctionPointer = void (*)();
// Pointers to the places where the program's copy of NVTX keeps each function.
using FunctionTable = FunctionPointer**;

struct CallbacksTable {
  size_t size;
  int (*get_module_functions)(int module, FunctionTable* table, unsigned* size);
};
using GetExportTable = const void* (*)(uint32_t id);
using InitializeInjection = int (*)(GetExportTable);

inline constexpr uint32_t kCallbacks = 1;  // id of CallbacksTable

enum Module : int {
  kCore = 1,
  kCuda = 2,
  kOpenCl = 3,
  kCudaRuntime = 4,
  kCore2 = 5,
  kSync = 6,
  kModuleCount = 7,
};

// A is for char, W for wchar_t, Ex for EventAttributes.
enum CoreFunction : unsigned {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
  kCoreSize,
};

enum Core2Function : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
  kCore2Size,
};

// Both modules name things, with pairs of an A and a W function.
enum CudaFunction : unsigned {
  kNameCuDeviceA = 1,
  kNameCuContextA = 3,
  kNameCuStreamA = 5,
  kNameCuEventA = 7,
  kCudaSize = 9,
};
enum CudaRuntimeFunction : unsigned {
  kNameCudaDeviceA = 1,
  kNameCudaStreamA = 3,
  kNameCudaEventA = 5,
  kCudaRuntimeSize = 7,
};

// --- data of events ---

using RangeId = uint64_t;
using Handle = void*;  // of a domain, string or resource
inline constexpr int kNoPushPopTracking = -2;

enum MessageType : int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
enum PayloadType : int32_t {
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat = 6,
  kExtended = static_cast<int32_t>(0xdfbd0009),  // array of PayloadData
};

struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;  // 1 = ARGB
  uint32_t color;
  int32_t payload_type;
  int32_t extended_count;  // with kExtended
  union {
    uint64_t u64;
    int64_t i64;
    double f64;
    uint32_t u32;
    int32_t i32;
    float f32;
  } payload;
  int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    Handle registered;
  } message;
};
static_assert(sizeof(EventAttributes) == 48);

enum ResourceType : int32_t {
  kNativeThread = 1 << 16 | 3,
  kPosixThread = 1 << 16 | 4,
  kCudaDevice = 4 << 16 | 1,
  kCudaContext = 4 << 16 | 2,
  kCudaStream = 4 << 16 | 3,
  kCudaEvent = 4 << 16 | 4,
  kCudaRtDevice = 5 << 16 | 0,
  kCudaRtStream = 5 << 16 | 1,
  kCudaRtEvent = 5 << 16 | 2,
};

struct ResourceAttributes {
  uint16_t version;
  uint16_t size;
  int32_t type;
  uint64_t identifier;
  int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    Handle registered;
  } message;
};
static_assert(sizeof(ResourceAttributes) == 32);

// --- extensions ---

struct ExtensionSegment {
  size_t id;
  size_t slot_count;
  intptr_t* slots;
};

struct ExtensionModule {
  uint16_t nvtx_version;
  uint16_t size;
  uint16_t module;
  uint16_t compatibility;
  size_t segment_count;
  ExtensionSegment* segments;
  intptr_t (*get_export_function)(uint32_t id);
  const void* info;
};
using InitializeExtension = int (*)(ExtensionModule*);

inline constexpr uint16_t kPayloadExtension = 2;
inline constexpr uint16_t kCounterExtension = 4;

enum PayloadFunction : unsigned {
  kSchemaRegister = 0,
  kEnumRegister = 1,
  kMarkPayload = 2,
  kRangePushPayload = 3,
  kRangePopPayload = 4,
  kRangeStartPayload = 5,
  kRangeEndPayload = 6,
  kDomainIsEnabled = 7,
};

enum CounterFunction : unsigned {
  kCounterRegister = 0,
  kCounterSampleInt64 = 1,
  kCounterSampleFloat64 = 2,
};

struct PayloadData {
  uint64_t schema;
  size_t size;  // ~0: as the schema says
  const void* data;
};

// Bits of SchemaEntry::flags.
inline constexpr uint64_t kEntryIsPointer = 1 << 1;
inline constexpr uint64_t kEntryOffsetFromBase = 1 << 2;
inline constexpr uint64_t kEntryOffsetFromHere = 1 << 3;
inline constexpr uint64_t kEntryArrayMask = 7 << 4;
inline constexpr uint64_t kEntryArrayFixed = 1 << 4;
inline constexpr uint64_t kEntryArrayZeroTerminated = 2 << 4;
inline constexpr uint64_t kEntryArrayLengthAt = 3 << 4;
inline constexpr uint64_t kEntryIsMessage = 1 << 10;

enum EntryType : uint64_t {
  kTypeChar = 1,
  kTypeUchar = 2,
  kTypeShort = 3,
  kTypeUshort = 4,
  kTypeInt = 5,
  kTypeUint = 6,
  kTypeLong = 7,
  kTypeUlong = 8,
  kTypeLonglong = 9,
  kTypeUlonglong = 10,
  kTypeInt8 = 11,
  kTypeUint8 = 12,
  kTypeInt16 = 13,
  kTypeUint16 = 14,
  kTypeInt32 = 15,
  kTypeUint32 = 16,
  kTypeInt64 = 17,
  kTypeUint64 = 18,
  kTypeFloat = 19,
  kTypeDouble = 20,
  kTypeLongDouble = 21,
  kTypeSize = 22,
  kTypeAddress = 23,
  kTypeWchar = 24,
  kTypeChar8 = 25,
  kTypeChar16 = 26,
  kTypeChar32 = 27,
  kTypeByte = 32,
  kTypeFloat32 = 43,
  kTypeFloat64 = 44,
  kTypeCategory = 68,
  kTypeColor = 69,
  kTypeScopeId = 70,
  kTypePid32 = 71,
  kTypePid64 = 72,
  kTypeTid32 = 73,
  kTypeTid64 = 74,
  kTypeCstring = 75,
  kTypeCstringUtf8 = 76,
  kTypeRegisteredString = 80,
  kTypeFirstSchema = 1 << 24,
};
// PayloadData::schema of memory that other payloads point into, and of raw
// bytes.
inline constexpr uint64_t kSchemaReferenced = 1022;
inline constexpr uint64_t kSchemaRaw = 1023;
inline constexpr uint64_t kFirstDynamicSchema = uint64_t{1} << 32;

struct SchemaEntry {
  uint64_t flags;
  uint64_t type;  // EntryType, or a schema
  const char* name;
  const char* description;
  uint64_t array_detail;  // length, or index of the entry with it
  uint64_t offset;        // 0 = behind the previous entry
  const void* semantics;
  const void* reserved;
};

enum SchemaType : uint64_t { kStaticSchema = 1, kDynamicSchema = 2 };

struct SchemaAttributes {
  uint64_t fields;  // which of the following are set; bits below
  const char* name;
  uint64_t type;
  uint64_t flags;
  const SchemaEntry* entries;
  size_t entry_count;
  size_t static_size;
  size_t pack_align;
  uint64_t id;
  void* extension;
};
// Bits of SchemaAttributes::fields.
inline constexpr uint64_t kSchemaHasName = 1 << 1;
inline constexpr uint64_t kSchemaHasType = 1 << 2;
inline constexpr uint64_t kSchemaHasStaticSize = 1 << 6;
inline constexpr uint64_t kSchemaHasAlignment = 1 << 7;
inline constexpr uint64_t kSchemaHasId = 1 << 8;

struct EnumEntry {
  const char* name;
  uint64_t value;
  int8_t is_flag;
};

struct EnumAttributes {
  uint64_t fields;
  const char* name;
  const EnumEntry* entries;
  size_t entry_count;
  size_t size;  // bytes of a value
  uint64_t id;
  void* extension;
};
inline constexpr uint64_t kEnumHasSize = 1 << 4;
inline constexpr uint64_t kEnumHasId = 1 << 5;

struct CounterAttributes {
  size_t size;
  uint64_t schema;
  const char* name;
  const char* description;
  uint64_t scope;
  const void* semantics;
  uint64_t id;  // 0 = the tool chooses
};

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_NVTX_ABI_H_
