// test_jit_dump.h - jitdumps that tests make, record by record.
//
//   TestJitDump dump;
//   dump.Load(/*time_ns=*/5, /*address=*/0x7000, /*size_bytes=*/64, 1, "fib");
//   WriteFile(path, dump.bytes);
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_TEST_JIT_DUMP_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_TEST_JIT_DUMP_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kymo::symbolize {

template <typename T>
std::string BytesOf(const T& value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

struct TestJitDump {
  struct Line {
    uint64_t address;
    uint32_t line;
    std::string file;
  };

  explicit TestJitDump(uint64_t flags = 0) {
    bytes = BytesOf(uint32_t{0x4a695444}) + BytesOf(uint32_t{1}) +
            BytesOf(uint32_t{40}) + BytesOf(uint32_t{EM_X86_64}) +
            BytesOf(uint32_t{0}) + BytesOf(uint32_t{1234}) +
            BytesOf(uint64_t{1}) + BytesOf(flags);
  }

  void Add(uint32_t id, uint64_t time_ns, const std::string& body) {
    bytes += BytesOf(id) + BytesOf(static_cast<uint32_t>(16 + body.size())) +
             BytesOf(time_ns) + body;
  }
  void Load(uint64_t time_ns, uint64_t address, uint64_t size_bytes,
            uint64_t index, const std::string& name) {
    Add(0, time_ns,
        BytesOf(uint64_t{0}) + BytesOf(address) + BytesOf(address) +
            BytesOf(size_bytes) + BytesOf(index) + name + '\0' +
            std::string(size_bytes, '\x90'));
  }
  void Move(uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size_bytes,
            uint64_t index) {
    Add(1, time_ns,
        BytesOf(uint64_t{0}) + BytesOf(to) + BytesOf(from) + BytesOf(to) +
            BytesOf(size_bytes) + BytesOf(index));
  }
  void Lines(uint64_t time_ns, uint64_t address,
             const std::vector<Line>& lines) {
    std::string body = BytesOf(address) + BytesOf(uint64_t{lines.size()});
    for (const Line& line : lines) {
      body += BytesOf(line.address) + BytesOf(line.line) +
              BytesOf(uint32_t{0}) + line.file + '\0';
    }
    Add(2, time_ns, body);
  }

  std::string bytes;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_TEST_JIT_DUMP_H_
