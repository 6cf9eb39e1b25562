// name_operators.h - finds operators in names of C++ functions.
#ifndef KYMO_PROFILER_TEXT_NAME_OPERATORS_H_
#define KYMO_PROFILER_TEXT_NAME_OPERATORS_H_

#include <cstddef>
#include <string_view>

namespace kymo::report {

// Where the text `operator<<` and the like that begins at `at` ends; `at` if
// there is none. Its signs are no brackets.
size_t PastOperator(std::string_view name, size_t at);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_TEXT_NAME_OPERATORS_H_
