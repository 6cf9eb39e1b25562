// warning.h - choose where Kymo's warnings go.
//
//   kymo::SetWarningHandler(
//       [](std::string_view text) { std::clog << "kymo: " << text << "\n"; });
//
// Without a handler, each warning is a line on standard error. A warning says
// that something works, but probably not as you meant it. Something that does
// not work is an absl::Status instead.
//
// Threads: any. Several threads may call the handler at the same time. A thread
//   that warned just before SetWarningHandler may still call the old handler
//   after it.
// Errors:  an exception from the handler is ignored.
#ifndef KYMO_PROFILER_API_WARNING_H_
#define KYMO_PROFILER_API_WARNING_H_

#include <functional>
#include <string_view>

namespace kymo {

using WarningHandler = std::function<void(std::string_view text)>;

// Replaces the handler and returns the one before. An empty handler brings
// standard error back.
WarningHandler SetWarningHandler(WarningHandler handler);

// Gives `text` to the handler.
void Warn(std::string_view text) noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_WARNING_H_
