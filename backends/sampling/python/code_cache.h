// code_cache.h - the functions (code objects) of a Python process.
//
//   CodeCache codes(layout, type_address, &places);
//   if (PythonCode* code = codes.Find(address, memory, now_ns)) {
//     stack.push_back(codes.PlaceOf(*code, instruction));
//   }
//
// A function is read when it is first seen. Python may free it and put another
// one at its address, so its fields are compared with the program's again:
// every 10 ms at first, and every 100 ms once it has been the same for 2 s.
// What is not a code object is not found, whatever lies there.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_CODE_CACHE_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_CODE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/sampling/python/line_table.h"
#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"
#include "profiler/symbolize/named_places.h"

namespace kymo::sampling {

// What tells one function at an address from the next.
struct CodeFields {
  uint64_t filename = 0;
  uint64_t qualified_name = 0;
  uint64_t line_table = 0;
  uint64_t unit_count = 0;  // of 2 bytes
  int32_t first_line = 0;

  friend bool operator==(const CodeFields&, const CodeFields&) = default;
};

struct PythonCode {
  CodeFields fields;
  uint64_t begin = 0;  // of its instructions
  uint64_t end = 0;
  std::string function;  // "train (loop.py:12)"; empty: the interpreter's own
  std::string file;
  bool begins_thread = false;  // thread_name.h
  LineTable lines;
  int64_t read_ns = 0;
  int64_t checked_ns = 0;  // was still the same
  // By line.
  absl::flat_hash_map<uint32_t, uint64_t> places;

  // Whether `instruction` can be where this function is. Right behind its last
  // instruction is where it would go on, and an instruction of 2 bytes before
  // the first is where it begins.
  bool Has(uint64_t instruction) const noexcept {
    return instruction + 2 >= begin && instruction <= end;
  }
};

class CodeCache {
 public:
  // Beyond so many functions, all are read again.
  static constexpr size_t kMostCodes = 100'000;

  // `type` is the address of PyCode_Type.
  CodeCache(const PythonLayout& layout, uint64_t type,
            symbolize::NamedPlaces* places)
      : layout_(layout), type_(type), places_(*places) {}

  // Null if there is no code object. Valid until the next Find.
  PythonCode* Find(uint64_t address, TargetMemory& memory, int64_t now_ns);
  // The known function that has the instruction, as it was when it was last
  // read. Null if there is none.
  PythonCode* FindByInstruction(uint64_t instruction);

  // The number of the place in `places`. Nothing for code of the interpreter's
  // own, which has no name.
  std::optional<uint64_t> PlaceOf(PythonCode& code, uint64_t instruction);

 private:
  std::optional<CodeFields> ReadFields(uint64_t address, TargetMemory& memory);
  PythonCode ReadCode(uint64_t address, const CodeFields& fields,
                      TargetMemory& memory);
  void Forget(uint64_t address);

  const PythonLayout layout_;
  const uint64_t type_;
  symbolize::NamedPlaces& places_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<PythonCode>> codes_;
  std::map<uint64_t, PythonCode*> by_begin_;
  size_t line_bytes_ = 0;  // that were read since codes_ was empty
  std::vector<std::byte> header_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_CODE_CACHE_H_
