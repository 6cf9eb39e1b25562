// test_log.h - logs by hand, for tests and benchmarks.
//
//   TestLog log;
//   log.Device(0, "H100");
//   log.Call("cudaLaunchKernel", 7, 1000, 2000);     // correlation, times
//   log.Kernel("sgemm", 7, 3000, 9000);
//   DecodeLog(facts, log.bytes(), {}, shard);
#ifndef KYMO_BACKENDS_CUPTI_LOG_TEST_LOG_H_
#define KYMO_BACKENDS_CUPTI_LOG_TEST_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cupti/log/gpu_record.h"
#include "backends/cupti/log/log_writer.h"

namespace kymo::cupti {

// A sink that collects the log. `log` must outlive the writer.
inline LogSink AppendTo(std::vector<std::byte>& log) {
  return {.append =
              [](void* to, const void* data, size_t size) noexcept {
                auto& bytes = *static_cast<std::vector<std::byte>*>(to);
                const auto* const from = static_cast<const std::byte*>(data);
                bytes.insert(bytes.end(), from, from + size);
              },
          .to = &log};
}

class TestLog {
 public:
  TestLog() { writer_->Open(AppendTo(bytes_)); }

  template <typename R>
  void Add(RecordKind kind, R record, const char* name = nullptr) {
    record.header.name = writer_->TextId(name);
    writer_->Write(kind, record);
  }

  // 108 multiprocessors of 2048 threads: an A100.
  static DeviceRecord A100() {
    DeviceRecord device = {};
    device.memory_bytes = uint64_t{40} << 30;
    device.major = 8;
    device.multiprocessors = 108;
    device.warp_size = 32;
    device.max_warps = 64;
    device.max_blocks = 32;
    device.max_shared = 164 * 1024;
    device.max_registers = 65536;
    device.block_shared = 48 * 1024;
    device.block_registers = 65536;
    device.block_threads = 1024;
    return device;
  }

  void Device(uint32_t id, const char* name) {
    DeviceRecord device = A100();
    device.id = id;
    Add(RecordKind::kDevice, device, name);
  }

  void Context(uint32_t id, uint32_t device) {
    ContextRecord context = {};
    context.id = id;
    context.device = device;
    Add(RecordKind::kContext, context);
  }

  void Call(const char* name, uint32_t correlation, uint64_t start,
            uint64_t end, uint32_t thread = 42,
            CallDomain domain = CallDomain::kRuntime) {
    CallRecord call = {};
    call.start = start;
    call.end = end;
    call.process = 42;
    call.thread = thread;
    call.correlation = correlation;
    call.cbid = 211;
    call.domain = domain;
    Add(RecordKind::kCall, call, name);
  }

  // 216 blocks of 256 threads with 32 registers each.
  static KernelRecord SomeKernel(uint32_t correlation, uint64_t start,
                                 uint64_t end) {
    KernelRecord kernel = {};
    kernel.start = start;
    kernel.end = end;
    kernel.context = 1;
    kernel.stream = 7;
    kernel.correlation = correlation;
    kernel.grid[0] = 216;
    kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256;
    kernel.block[1] = kernel.block[2] = 1;
    kernel.registers = 32;
    return kernel;
  }
  void Kernel(const char* name, uint32_t correlation, uint64_t start,
              uint64_t end) {
    Add(RecordKind::kKernel, SomeKernel(correlation, start, end), name);
  }

  std::span<const std::byte> bytes() {
    writer_->Flush();
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<LogWriter> writer_ = std::make_unique<LogWriter>();
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOG_TEST_LOG_H_
