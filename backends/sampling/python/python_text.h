// python_text.h - reads a str or a bytes object of a Python process.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_TEXT_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"

namespace kymo::sampling {

// As UTF-8, at most `most_characters` of it: the first ones, or the last if
// `keep_end` is set. Nothing if there is no str.
std::optional<std::string> ReadPythonText(uint64_t address,
                                          const PythonLayout& layout,
                                          size_t most_characters, bool keep_end,
                                          TargetMemory& memory);

// Nothing if there is no bytes object, or more than `most_bytes`.
std::optional<std::vector<std::byte>> ReadPythonBytes(
    uint64_t address, const PythonLayout& layout, size_t most_bytes,
    TargetMemory& memory);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_TEXT_H_
