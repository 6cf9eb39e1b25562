#include "exporters/parquet/partition_name.h"

namespace kymo::parquet {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::string Escaped(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string name;
  for (const char c : text) {
    // Readers take __HIVE_DEFAULT_PARTITION__ for NULL.
    if (IsPlain(c) && !(name.empty() && c == '_')) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
    }
  }
  return name;
}

// A long name cut at a character, with a number made of all of it: two long
// names that begin alike stay different.
std::string Shortened(std::string_view job) {
  if (job.size() <= kMostJobBytes) return std::string(job);
  constexpr size_t kHashDigits = 16;
  size_t kept = kMostJobBytes - kHashDigits - 1;
  const auto is_continued = [&] {
    return (static_cast<unsigned char>(job[kept]) & 0xC0) == 0x80;
  };
  while (kept > 0 && is_continued()) --kept;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : job) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::string name(job.substr(0, kept));
  name += '-';
  for (size_t i = 0; i < kHashDigits; ++i, hash <<= 4) {
    name += "0123456789abcdef"[hash >> 60];
  }
  return name;
}

}  // namespace

std::string PartFile(std::string_view table, std::string_view job,
                     int64_t rank) {
  const std::string name = job.empty() ? "unknown" : Escaped(Shortened(job));
  return "parquet/" + std::string(table) + "/job=" + name +
         "/rank=" + std::to_string(rank) + "/part-0.parquet";
}

}  // namespace kymo::parquet
