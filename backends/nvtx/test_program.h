// test_program.h - a program's copy of NVTX, which a tool fills in.
//
//   const TestProgram& nvtx = TestProgram::Get();
//   nvtx.Core<int>(kRangePushA, "work");
#ifndef KYMO_BACKENDS_NVTX_TEST_PROGRAM_H_
#define KYMO_BACKENDS_NVTX_TEST_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "backends/nvtx/target/nvtx_abi.h"
#include "gtest/gtest.h"

extern "C" int InitializeInjectionNvtx2(
    kymo::nvtx::GetExportTable get_export_table);
extern "C" int InitializeInjectionNvtxExtension(
    kymo::nvtx::ExtensionModule* module);

namespace kymo::nvtx {

class TestProgram {
 public:
  static const TestProgram& Get() {
    static const TestProgram program;
    return program;
  }

  template <typename Result, typename... Arguments>
  Result Core(unsigned id, Arguments... arguments) const {
    return Call<Result>(core, id, arguments...);
  }
  template <typename Result, typename... Arguments>
  Result Core2(unsigned id, Arguments... arguments) const {
    return Call<Result>(core2, id, arguments...);
  }
  template <typename... Arguments>
  void Cuda(unsigned id, Arguments... arguments) const {
    Call<void>(cuda, id, arguments...);
  }
  template <typename... Arguments>
  void CudaRuntime(unsigned id, Arguments... arguments) const {
    Call<void>(cuda_runtime, id, arguments...);
  }
  template <typename Result, typename... Arguments>
  Result Payload(unsigned slot, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(payload_.at(slot))(
        arguments...);
  }
  template <typename Result, typename... Arguments>
  Result Counter(unsigned slot, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(counter_.at(slot))(
        arguments...);
  }
  const std::vector<intptr_t>& payload_slots() const { return payload_; }
  const std::vector<intptr_t>& counter_slots() const { return counter_; }

 private:
  TestProgram() {
    EXPECT_EQ(InitializeInjectionNvtx2(GetTable), 1);
    Attach(kPayloadExtension, payload_);
    Attach(kCounterExtension, counter_);
  }

  static void Attach(uint16_t module, std::vector<intptr_t>& slots) {
    ExtensionSegment segment = {0, slots.size(), slots.data()};
    ExtensionModule attached = {.size = sizeof(ExtensionModule),
                                .module = module,
                                .segment_count = 1,
                                .segments = &segment};
    EXPECT_EQ(InitializeInjectionNvtxExtension(&attached), 1);
  }

  // Each module has a table of its own.
  template <auto& kFunctions>
  static int Give(FunctionTable* table, unsigned* size) {
    static FunctionPointer* entries[std::size(kFunctions)] = {};
    for (size_t i = 1; i < std::size(entries); ++i) {
      entries[i] = &kFunctions[i];
    }
    *table = entries;
    *size = std::size(entries);
    return 1;
  }
  static int GetModuleFunctions(int module, FunctionTable* table,
                                unsigned* size) {
    switch (module) {
      case kCore:
        return Give<core>(table, size);
      case kCore2:
        return Give<core2>(table, size);
      case kCuda:
        return Give<cuda>(table, size);
      case kCudaRuntime:
        return Give<cuda_runtime>(table, size);
      default:
        return 0;
    }
  }
  static const void* GetTable(uint32_t id) {
    static constexpr CallbacksTable kTable = {sizeof(CallbacksTable),
                                              GetModuleFunctions};
    return id == kCallbacks ? &kTable : nullptr;
  }

  template <typename Result, size_t kSize, typename... Arguments>
  static Result Call(FunctionPointer (&functions)[kSize], unsigned id,
                     Arguments... arguments) {
    EXPECT_NE(functions[id], nullptr) << id;
    return reinterpret_cast<Result (*)(Arguments...)>(functions[id])(
        arguments...);
  }

  static inline FunctionPointer core[kCoreSize] = {};
  static inline FunctionPointer core2[kCore2Size] = {};
  static inline FunctionPointer cuda[kCudaSize] = {};
  static inline FunctionPointer cuda_runtime[kCudaRuntimeSize] = {};
  std::vector<intptr_t> payload_ = std::vector<intptr_t>(10);
  std::vector<intptr_t> counter_ = std::vector<intptr_t>(4);
};

// An event whose message is a text.
inline EventAttributes TestEvent(const char* message) {
  EventAttributes event = {};
  event.version = 3;
  event.size = sizeof(event);
  event.message_type = kAscii;
  event.message.ascii = message;
  return event;
}

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TEST_PROGRAM_H_
