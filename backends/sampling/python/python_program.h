// python_program.h - whether a program is run by Python.
//
//   if (IsRunByPython("/usr/bin/pip3")) ...  // "#!/usr/bin/python3"
//
// Threads: any.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_PROGRAM_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_PROGRAM_H_

#include <string>

namespace kymo::sampling {

// By names alone, since this delays the start of any program: that of the file,
// of the file that it links to, or of the interpreter in a script's first line
// (also behind `env`) begins with "python". False if it cannot be read.
bool IsRunByPython(const std::string& path);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_PROGRAM_H_
