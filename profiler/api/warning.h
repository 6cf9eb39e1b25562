// warning.h - where Kymo's warnings go.
//
//   kymo::SetWarningHandler(
//       [](std::string_view text) { LOG(WARNING) << text; });
//
// By default each is a line on standard error. Warnings tell of something that
// works, but probably not as meant; what does not work is a Status.
//
// Threads: any; a handler may be called from several threads at a time, and
//   once more by a thread that warned just before it was replaced.
// Errors:  what a handler throws is swallowed.
#ifndef KYMO_PROFILER_API_WARNING_H_
#define KYMO_PROFILER_API_WARNING_H_

#include <functional>
#include <string_view>

namespace kymo {

using WarningHandler = std::function<void(std::string_view text)>;

// Returns the handler before. An empty one brings the default back.
WarningHandler SetWarningHandler(WarningHandler handler);

void Warn(std::string_view text) noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_WARNING_H_
