// interpreter_module.h - finds CPython in an ELF file.
//
//   if (const auto interpreter = FindInterpreter(module.elf())) ...
//
// Python exports its interface, so even a stripped executable has these
// symbols. It may be an executable (Debian's python3) or a library.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_INTERPRETER_MODULE_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_INTERPRETER_MODULE_H_

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace kymo::sampling {

// Addresses relative to the file, as symbols have them; 0 = none.
struct InterpreterModule {
  struct Code {
    uint64_t begin;
    uint64_t end;
  };
  // The loop that runs bytecode, _PyEval_EvalFrameDefault; with symbols that
  // are not exported also its part that compilers put elsewhere.
  std::vector<Code> loop;
  uint64_t code_type = 0;  // PyCode_Type
  uint64_t runtime = 0;    // _PyRuntime
  uint64_t version = 0;    // Py_Version, since 3.11
};

// Nothing if the file has no Python interpreter.
std::optional<InterpreterModule> FindInterpreter(Elf* elf);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_INTERPRETER_MODULE_H_
