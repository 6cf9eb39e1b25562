// status_macros.h - early return for absl::Status and absl::StatusOr.
//
//   KYMO_RETURN_IF_ERROR(file.Flush());
//   KYMO_ASSIGN_OR_RETURN(const Header header, ReadHeader(file));
#ifndef KYMO_PROFILER_BASE_STATUS_MACROS_H_
#define KYMO_PROFILER_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"

#define KYMO_STATUS_CONCAT_INNER_(a, b) a##b
#define KYMO_STATUS_CONCAT_(a, b) KYMO_STATUS_CONCAT_INNER_(a, b)

#define KYMO_RETURN_IF_ERROR(expression)      \
  do {                                        \
    absl::Status kymo_status_ = (expression); \
    if (!kymo_status_.ok()) [[unlikely]]      \
      return kymo_status_;                    \
  } while (false)

#define KYMO_ASSIGN_OR_RETURN(declaration, expression)                   \
  KYMO_ASSIGN_OR_RETURN_(KYMO_STATUS_CONCAT_(kymo_status_or_, __LINE__), \
                         declaration, expression)
#define KYMO_ASSIGN_OR_RETURN_(variable, declaration, expression) \
  auto variable = (expression);                                   \
  if (!variable.ok()) [[unlikely]]                                \
    return std::move(variable).status();                          \
  declaration = *std::move(variable)

#endif  // KYMO_PROFILER_BASE_STATUS_MACROS_H_
