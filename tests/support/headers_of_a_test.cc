// Headers that most tests include and that take long to read. They are compiled
// once, as //tests/support:test_headers, and every test begins with the result.
//
// Only headers from outside of the workspace: a change of ours must not compile
// all tests again.
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <gtest/gtest.h>
