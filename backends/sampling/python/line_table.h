// line_table.h - the source lines of a Python function's instructions.
//
//   const LineTable lines(bytes, first_line);    // co_linetable
//   lines.LineAt(unit)                           // 2-byte units of bytecode
//
// Decodes the location table of PEP 626, as Python has it since 3.11. The bytes
// may be anything: what makes no sense ends the table.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_LINE_TABLE_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kymo::sampling {

class LineTable {
 public:
  LineTable() = default;
  LineTable(std::span<const std::byte> bytes, int32_t first_line);

  // The line of the instruction, or of the last one before it that has a line.
  // 0 if there is none.
  uint32_t LineAt(uint64_t unit) const noexcept;

 private:
  struct Range {
    uint64_t end_unit;
    uint32_t line;
  };

  void Add(uint64_t end_unit, uint32_t line);

  std::vector<Range> ranges_;  // by end
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_LINE_TABLE_H_
