// interpreter_module.h - finds CPython in an ELF file.
//
//   if (const auto interpreter = FindInterpreter(module.image())) ...
//
// Python exports its interface, so even a stripped executable has these
// symbols. It may be an executable (Debian's python3) or a library.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_INTERPRETER_MODULE_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_INTERPRETER_MODULE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/sampling/python/split_code.h"
#include "profiler/symbolize/stripped/elf_image.h"

namespace kymo::sampling {

// Addresses relative to the file, as symbols have them; 0 = none.
struct InterpreterModule {
  // The loop that runs bytecode, _PyEval_EvalFrameDefault, and its parts that
  // compilers put elsewhere.
  std::vector<CodeRange> loop;
  uint64_t code_type = 0;  // PyCode_Type
  uint64_t runtime = 0;    // _PyRuntime
  uint64_t version = 0;    // Py_Version, since 3.11
};

// Nothing if the file has no Python interpreter.
std::optional<InterpreterModule> FindInterpreter(
    const symbolize::ElfImage& image);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_INTERPRETER_MODULE_H_
