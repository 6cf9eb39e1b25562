#include "backends/stream/raw/raw_version.h"

#include <algorithm>
#include <string_view>

#include "kymo/version.h"
#include "profiler/base/whole_io.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {
namespace {

constexpr std::string_view kWord = "Kymo ";
constexpr char kText[kRawVersionBytes] = "Kymo " KYMO_VERSION;
static_assert(sizeof(record::ArenaHeader) <= kRawVersionAt,
              "the arena's first page has the version behind its header");

bool IsOfVersions(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' ||
         c == '-' || c == '+' || c == '~';
}

}  // namespace

bool WriteRawVersion(int fd) {
  return WriteWhole(fd, kRawVersionAt, kText, sizeof(kText));
}

std::string ReadRawVersion(int fd) {
  char text[kRawVersionBytes];
  if (!ReadWhole(fd, kRawVersionAt, text, sizeof(text))) return "";
  std::string_view version(text, sizeof(text));
  version = version.substr(0, version.find('\0'));
  if (!version.starts_with(kWord)) return "";
  version.remove_prefix(kWord.size());
  // The file may hold anything, and the text goes to a terminal.
  return std::ranges::all_of(version, IsOfVersions) ? std::string(version) : "";
}

}  // namespace kymo::stream
