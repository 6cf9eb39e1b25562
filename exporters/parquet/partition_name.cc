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
    if (IsPlain(c)) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
    }
  }
  return name;
}

}  // namespace

std::string PartFile(std::string_view table, std::string_view job,
                     int64_t rank) {
  const std::string name =
      job.empty() ? "unknown" : Escaped(job.substr(0, kMostJobBytes));
  return "parquet/" + std::string(table) + "/job=" + name +
         "/rank=" + std::to_string(rank) + "/part-0.parquet";
}

}  // namespace kymo::parquet
