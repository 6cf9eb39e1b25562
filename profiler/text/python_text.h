// python_text.h - values as the Python interpreter writes them.
//
//   PythonFloat(100000)                   // "100000.0"
//   PythonList({{64, 32}, {}})            // "[[64, 32], []]"
//   PythonString("it's")                  // "\"it's\""
//   PythonJsonString("\u03bb")            // "\"\\u03bb\""
//
// PyTorch's tables, error texts and traces hold such texts.
#ifndef KYMO_PROFILER_TEXT_PYTHON_TEXT_H_
#define KYMO_PROFILER_TEXT_PYTHON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo {

// repr(value): the shortest digits that read back as the same double, with an
// exponent below 1e-4 and from 1e16 on.
std::string PythonFloat(double value);

// "True" or "False".
std::string_view PythonBool(bool value) noexcept;

// Lists of sizes. The text is JSON too.
std::string PythonList(const std::vector<std::vector<int64_t>>& shapes);

// repr(text). Characters beyond ASCII are taken as printable.
std::string PythonString(std::string_view text);

// json.dumps(text): ASCII only, the rest as \uXXXX (two of them beyond the
// basic plane). Bytes that are not UTF-8 become \ufffd, as json_text.h says.
std::string PythonJsonString(std::string_view text);

}  // namespace kymo

#endif  // KYMO_PROFILER_TEXT_PYTHON_TEXT_H_
