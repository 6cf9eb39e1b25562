// Headers that most of our libraries include and that take long to read. They
// are compiled once, as //tools/build_defs:library_headers, and every library
// of the product begins with the result.
//
// Only headers from outside of the workspace: a change of ours must not compile
// all libraries again.
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
