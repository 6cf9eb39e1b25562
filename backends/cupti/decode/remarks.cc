#include "backends/cupti/decode/remarks.h"

#include <set>

#include "absl/strings/str_cat.h"

namespace kymo::cupti {
namespace {

// CUDA 13.0. The release notes of its update 1 list what was wrong with it.
constexpr uint32_t kFirstOf13 = 130'000;

}  // namespace

std::vector<std::string> RemarksOf(std::span<const DecodedLog> logs,
                                   uint32_t version) {
  std::set<std::string> refused;
  for (const DecodedLog& log : logs) {
    refused.insert(log.refused.begin(), log.refused.end());
  }
  std::vector<std::string> remarks;
  for (const std::string& what : refused) {
    remarks.push_back(
        absl::StrCat("CUPTI did not record what was asked for: ", what));
  }
  if (version == kFirstOf13) {
    remarks.push_back(
        "this libcupti is the first of CUDA 13.0, which leaves out waits for a "
        "whole device and may crash the program: install CUDA 13.0 Update 1");
  }
  return remarks;
}

}  // namespace kymo::cupti
